#include "results/record/captured.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace bench {
namespace {

TEST(Captured, HoldsAValueOrAReason) {
  const Captured<std::string> value = "tsc";
  EXPECT_TRUE(value.known());
  EXPECT_EQ(value.value(), "tsc");
  EXPECT_EQ(value.why(), "");

  const Captured<std::int64_t> unknown = Unknown{"no permission"};
  EXPECT_FALSE(unknown.known());
  EXPECT_EQ(unknown.why(), "no permission");
  EXPECT_EQ(unknown.value_or(7), 7);
  EXPECT_THROW(unknown.value(), InternalError);
}

TEST(Captured, HasAReasonByDefault) { EXPECT_EQ(Captured<int>().why(), "not captured"); }

TEST(Captured, ConvertsOnceFromWhatConvertsToItsType) {
  const Captured<std::int64_t> wide = 3;
  EXPECT_EQ(wide.value(), 3);
  const Captured<std::vector<int>> list = std::vector<int>{1, 2};
  EXPECT_EQ(list.value().size(), 2U);
}

}  // namespace
}  // namespace bench
