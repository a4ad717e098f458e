#include "kernels/cpu/cast.h"

#include <bit>
#include <cstring>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"
#include "models/base/half.h"
#include "models/base/philox.h"

namespace bench::cpu {
namespace {

using test::GuardedFloats;
using test::GuardedMemory;
using test::GuardedTensor;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

float widened(DType dtype, std::uint16_t bits) {
  return dtype == DType::bf16 ? widen(Bfloat16{bits}) : widen(Float16{bits});
}

std::uint16_t narrowed(DType dtype, float value) {
  const auto wide = static_cast<double>(value);
  return dtype == DType::bf16 ? narrow_to_bfloat16(wide).bits : narrow_to_float16(wide).bits;
}

bool is_nan(DType dtype, std::uint16_t bits) { return std::isnan(widened(dtype, bits)); }

/// Equal bits, except that all NaNs are equal.
bool same(DType dtype, std::uint16_t given, std::uint16_t expected) {
  return given == expected || (is_nan(dtype, given) && is_nan(dtype, expected));
}

/// Every pattern of 16 bits.
std::vector<std::uint16_t> patterns() {
  std::vector<std::uint16_t> all(1U << 16);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<std::uint16_t>(i);
  }
  return all;
}

/// Floats near every boundary of rounding to dtype: every value, the middles between neighbours and
/// the floats adjacent to each; then random bits.
std::vector<float> floats_for(DType dtype) {
  std::vector<float> values;
  const std::uint32_t unit = dtype == DType::bf16 ? 1U << 16 : 1U << 13;
  for (const std::uint16_t pattern : patterns()) {
    const auto bits = std::bit_cast<std::uint32_t>(widened(dtype, pattern));
    for (const std::uint32_t middle : {bits, bits + unit / 2}) {
      for (const std::uint32_t each : {middle - 1, middle, middle + 1}) {
        values.push_back(std::bit_cast<float>(each));
      }
    }
  }
  // f16's smallest numbers have middles that are not halves of a float's bits.
  for (int i = 0; i < 2100; ++i) {
    const float middle = std::ldexp(static_cast<float>(i) + 0.5F, -24);
    for (const float each : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1.0F)}) {
      values.push_back(each);
      values.push_back(-each);
    }
  }
  for (std::uint32_t i = 0; i < 1U << 16; ++i) {
    for (const std::uint32_t word : philox4x32({i, 0, 0, 0}, {1, 2})) {
      values.push_back(std::bit_cast<float>(word));
    }
  }
  return values;
}

TEST(Cast, WidensEveryPattern) {
  const auto bits = patterns();
  const auto count = static_cast<std::int64_t>(bits.size());
  for (const DType dtype : {DType::bf16, DType::f16}) {
    SCOPED_TRACE(name_of(dtype));
    test::for_teams([&](ThreadTeam& team) {
      const GuardedMemory x(bits.size() * sizeof(std::uint16_t));
      std::memcpy(x.data(), bits.data(), bits.size() * sizeof(std::uint16_t));
      const GuardedFloats y(count);
      cast(team, {.count = count, .from = dtype, .x = x.data(), .to = DType::f32, .y = y.data()});
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const float expected = widened(dtype, bits[at(i)]);
        const bool equal = std::isnan(expected) ? std::isnan(y[i])
                                                : std::bit_cast<std::uint32_t>(y[i]) ==
                                                      std::bit_cast<std::uint32_t>(expected);
        wrong += equal ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0);
      EXPECT_TRUE(y.intact());
    });
  }
}

TEST(Cast, NarrowsToNearestAndKeepsNaN) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    SCOPED_TRACE(name_of(dtype));
    const auto values = floats_for(dtype);
    const auto count = static_cast<std::int64_t>(values.size());
    std::vector<std::uint16_t> expected;
    for (const float value : values) {
      expected.push_back(narrowed(dtype, value));
    }
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats x(values);
      const GuardedMemory y(values.size() * sizeof(std::uint16_t));
      cast(team, {.count = count, .from = DType::f32, .x = x.data(), .to = dtype, .y = y.data()});
      const auto* const given = static_cast<const std::uint16_t*>(y.data());
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const bool equal = same(dtype, given[i], expected[at(i)]);
        if (!equal && wrong++ == 0) {
          ADD_FAILURE() << values[at(i)] << " became " << given[i] << ", not " << expected[at(i)];
        }
      }
      EXPECT_EQ(wrong, 0);
      EXPECT_TRUE(y.intact());
    });
  }
}

TEST(Cast, ConvertsBetween16BitTypes) {
  const auto bits = patterns();
  const auto count = static_cast<std::int64_t>(bits.size());
  for (const DType from : {DType::bf16, DType::f16}) {
    const DType to = from == DType::bf16 ? DType::f16 : DType::bf16;
    test::for_teams([&](ThreadTeam& team) {
      const GuardedMemory y(bits.size() * sizeof(std::uint16_t));
      cast(team, {.count = count, .from = from, .x = bits.data(), .to = to, .y = y.data()});
      const auto* const given = static_cast<const std::uint16_t*>(y.data());
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        wrong += same(to, given[i], narrowed(to, widened(from, bits[at(i)]))) ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0);
    });
  }
}

TEST(Cast, WritesNothingAfterTheEnd) {
  const std::vector<DType> types{DType::f32, DType::bf16, DType::f16};
  for (std::int64_t count = 0; count <= 70; ++count) {
    const auto values = test::random_floats(count, 1);
    test::for_teams([&](ThreadTeam& team) {
      for (const DType from : types) {
        for (const DType to : types) {
          const GuardedTensor x(from, values), y(to, count);
          cast(team, {.count = count, .from = from, .x = x.data(), .to = to, .y = y.data()});
          EXPECT_EQ(y.values(), test::rounded(to, test::rounded(from, values)));
          EXPECT_TRUE(y.intact());
        }
      }
    });
  }
}

TEST(Cast, RefusesOtherTypes) {
  EXPECT_THROW(cast({.count = 0, .from = DType::f64, .to = DType::bf16}), InternalError);
  EXPECT_THROW(cast({.count = 0, .from = DType::f32, .to = DType::s8}), InternalError);
}

}  // namespace
}  // namespace bench::cpu
