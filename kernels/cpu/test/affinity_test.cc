#include "kernels/cpu/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using ::testing::ElementsAre;

TEST(Affinity, HoldsForTheThreadsThatAreStartedMeanwhile) {
  const std::vector<int> before = allowed_processors();
  std::thread([&] {
    ASSERT_EQ(allow_processors({before.front()}), 0);
    EXPECT_THAT(allowed_processors(), ElementsAre(before.front()));
    std::vector<int> inner;
    {
      const WithProcessors all(before);
      std::thread([&] { inner = allowed_processors(); }).join();
    }
    EXPECT_EQ(inner, before);
    EXPECT_THAT(allowed_processors(), ElementsAre(before.front()));
  }).join();
  EXPECT_EQ(allowed_processors(), before);
}

TEST(Affinity, IsRefusedWhereThereAreNoProcessors) {
  EXPECT_THROW(WithProcessors({}), DeviceError);
}

}  // namespace
}  // namespace bench::cpu
