#include "bench/verify/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace bench {
namespace {

TEST(Arena, GivesDisjointMemoryBeyondTheExpectedSize) {
  Arena arena(1 << 10);
  for (std::size_t reset = 0; reset < 3; ++reset) {
    const auto first = arena.take<int>(1000 + reset);
    const auto second = arena.take<double>(1 << 20);
    const auto third = arena.take<int>(3);
    std::fill(first.begin(), first.end(), 1);
    std::fill(second.begin(), second.end(), 2.0);
    std::fill(third.begin(), third.end(), 3);
    EXPECT_TRUE(std::all_of(first.begin(), first.end(), [](int x) { return x == 1; }));
    EXPECT_TRUE(std::all_of(second.begin(), second.end(), [](double x) { return x == 2; }));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(third.data()) % 64, 0U);
    arena.reset();
  }
}

TEST(Arena, GivesTheSameMemoryAgain) {
  Arena arena(1 << 20);
  const auto* const first = arena.take<double>(1000).data();
  arena.reset();
  EXPECT_EQ(arena.take<double>(2000).data(), first);
}

}  // namespace
}  // namespace bench
