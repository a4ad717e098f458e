#include "models/base/philox.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

// Known answers published with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, GivesThePublishedKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, RepeatsForOneSeedAndStreamAndDiffersForOthers) {
  RandomStream a(7, 1);
  RandomStream b(7, 1);
  RandomStream other_stream(7, 2);
  RandomStream other_seed(8, 1);
  for (int i = 0; i < 100; ++i) {
    const auto bits = a.bits();
    EXPECT_EQ(bits, b.bits());
    EXPECT_NE(bits, other_stream.bits());
    EXPECT_NE(bits, other_seed.bits());
  }
}

TEST(RandomStream, UniformIntegersCoverTheirRangeEvenly) {
  RandomStream random(1234);
  constexpr int kDraws = 70000;
  std::array<int, 7> counts{};
  for (int i = 0; i < kDraws; ++i) {
    ++counts.at(random.below(7));
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, kDraws / 7, 500);  // five standard deviations
  }
}

TEST(RandomStream, TruncatedNormalHasItsMomentsAndItsCut) {
  RandomStream random(1234);
  constexpr int kDraws = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.truncated_normal();
    EXPECT_LE(std::abs(x), 2.0);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  // Variance of a standard normal cut at two standard deviations.
  EXPECT_NEAR(squares / kDraws, 0.77374, 0.01);
}

}  // namespace
}  // namespace bench
