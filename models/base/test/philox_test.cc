#include "models/base/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

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

TEST(RandomStream, TruncatedNormalInvertsItsDistributionFunction) {
  RandomStream words(7, 1);
  RandomStream random(7, 1);
  const double share = std::erf(std::numbers::sqrt2);  // of the normal's draws within the cut
  for (int i = 0; i < 200000; ++i) {
    const double x = (words.bits() >> 8U) * 0x1.0p-23 + 0x1.0p-24 - 1;
    const double drawn = random.truncated_normal();
    // A step of Newton's method from the number drawn to the one whose share of draws is x.
    const double error = std::erf(drawn / std::numbers::sqrt2) / share - x;
    const double density =
        2 / share * std::exp(-drawn * drawn / 2) / std::sqrt(2 * std::numbers::pi);
    EXPECT_NEAR(error / density, 0, 5e-7 * std::abs(drawn)) << "at " << x;
  }
}

// Known bits hold every compiler and machine to the same numbers.
TEST(RandomStream, TruncatedNormalIsTheSameEverywhere) {
  RandomStream random(7, 1);
  std::array<float, 4> drawn{};
  random.truncated_normal(drawn);
  EXPECT_EQ(drawn, (std::array<float, 4>{-0x1.84e3a6p-7F, -0x1.c7cc14p-1F, -0x1.df76ccp-2F,
                                         -0x1.6d44fp-1F}));
}

TEST(RandomStream, TruncatedNormalsAreEqualDrawnTogetherOrSingly) {
  // The counter's upper word begins to count within the numbers.
  RandomStream begin(0x123456789ABCDEF0, 0x0FEDCBA987654321);
  begin.skip_blocks(0xFFFFFFF0);
  for (const std::size_t words_before : {0, 1, 3, 4}) {
    for (const std::size_t count : {0, 1, 2, 3, 255, 256, 257, 1003}) {
      RandomStream one = begin;
      one.normal();  // Its pair's second is still to come.
      for (std::size_t i = 0; i < words_before; ++i) {
        one.bits();
      }
      RandomStream many = one;
      std::vector<float> values(count, -3);
      many.truncated_normal(values);
      for (const float value : values) {
        ASSERT_EQ(value, one.truncated_normal());
      }
      EXPECT_EQ(one.normal(), many.normal());
      EXPECT_EQ(one.bits(), many.bits());
    }
  }
}

TEST(RandomStream, SkipsBlocksOfFourWords) {
  RandomStream whole(7, 1);
  for (int i = 0; i < 12; ++i) {
    whole.bits();
  }
  RandomStream rest(7, 1);
  rest.skip_blocks(3);
  EXPECT_EQ(whole.bits(), rest.bits());
}

}  // namespace
}  // namespace bench
