#include "models/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Half, class Narrow>
void expect_each_pattern_comes_back(const Narrow& narrow) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float wide = widen(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(widen(narrow(static_cast<double>(wide)))));
    } else {
      EXPECT_EQ(narrow(static_cast<double>(wide)).bits, bits);
    }
  }
}

TEST(HalfTest, EveryPatternComesBackFromItsFloat) {
  expect_each_pattern_comes_back<Bfloat16>(narrow_to_bfloat16);
  expect_each_pattern_comes_back<Float16>(narrow_to_float16);
}

/// Between two neighbours the nearer one wins, in the middle the even one.
template <class Half, class Narrow>
void expect_rounding_to_nearest(std::uint16_t last_finite, const Narrow& narrow) {
  for (std::uint16_t bits = 0; bits < last_finite; ++bits) {
    const auto low = static_cast<double>(widen(Half{bits}));
    const auto high = static_cast<double>(widen(Half{static_cast<std::uint16_t>(bits + 1)}));
    const double middle = (low + high) / 2;
    const std::uint16_t even = bits % 2 == 0 ? bits : static_cast<std::uint16_t>(bits + 1);
    EXPECT_EQ(narrow(middle).bits, even);
    EXPECT_EQ(narrow(std::nextafter(middle, 0.0)).bits, bits);
    EXPECT_EQ(narrow(std::nextafter(middle, kInfinity)).bits, bits + 1);
    EXPECT_EQ(narrow(-middle).bits, even | 0x8000U);
  }
}

TEST(HalfTest, RoundsToNearestTiesToEvenWithoutRoundingTwice) {
  expect_rounding_to_nearest<Bfloat16>(0x7F7F, narrow_to_bfloat16);
  expect_rounding_to_nearest<Float16>(0x7BFF, narrow_to_float16);
}

TEST(HalfTest, LargeNumbersBecomeInfinite) {
  EXPECT_EQ(narrow_to_float16(65519.9).bits, 0x7BFF);
  EXPECT_EQ(narrow_to_float16(65520).bits, 0x7C00);
  EXPECT_EQ(narrow_to_float16(-1e300).bits, 0xFC00);
  EXPECT_EQ(narrow_to_bfloat16(1e300).bits, 0x7F80);
  EXPECT_EQ(narrow_to_bfloat16(kInfinity).bits, 0x7F80);
}

TEST(HalfTest, NanStaysNan) {
  EXPECT_TRUE(std::isnan(widen(narrow_to_float16(std::nan("")))));
  EXPECT_TRUE(std::isnan(widen(narrow_to_bfloat16(-std::nan("")))));
}

}  // namespace
}  // namespace bench
