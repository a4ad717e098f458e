#include "kernels/cpu/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using ::testing::ElementsAre;

TEST(Affinity, AppliesToThreadsThatAreStartedMeanwhile) {
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

TEST(Affinity, IsRefusedForNoProcessors) { EXPECT_THROW(WithProcessors({}), DeviceError); }

/// How the system takes memory for the calling thread: the mode, and the first 64 nodes' bits.
std::array<std::uint64_t, 2> memory_policy() {
  int mode = -1;
  std::array<std::uint64_t, 64> nodes{};
  EXPECT_EQ(syscall(SYS_get_mempolicy, &mode, nodes.data(), nodes.size() * 64, nullptr, 0), 0);
  return {static_cast<std::uint64_t>(mode), nodes[0]};
}

TEST(MemoryOnNode, AppliesToItsThreadAndThoseThatItStarts) {
  {
    const MemoryOnNode tried(0);
    if (!tried.why_not().empty()) {
      GTEST_SKIP() << tried.why_not();
    }
  }
  constexpr std::uint64_t kFirstNode = 1;
  const auto before = memory_policy();
  std::array<std::uint64_t, 2> inner{};
  std::array<std::uint64_t, 2> suspended{};
  {
    const MemoryOnNode node(0);
    EXPECT_THAT(memory_policy(), ElementsAre(MPOL_PREFERRED, kFirstNode));
    std::thread([&] { inner = memory_policy(); }).join();
    {
      const MemoryAsBefore as_before(node);
      suspended = memory_policy();
    }
    EXPECT_THAT(memory_policy(), ElementsAre(MPOL_PREFERRED, kFirstNode));
  }
  EXPECT_THAT(inner, ElementsAre(MPOL_PREFERRED, kFirstNode));
  EXPECT_EQ(suspended, before);
  EXPECT_EQ(memory_policy(), before);
}

TEST(MemoryOnNode, ExplainsWhyItIsImpossible) {
  const auto before = memory_policy();
  const MemoryOnNode missing(1000);
  EXPECT_THAT(missing.why_not(), ::testing::HasSubstr("_mempolicy: "));
  EXPECT_EQ(memory_policy(), before);
}

}  // namespace
}  // namespace bench::cpu
