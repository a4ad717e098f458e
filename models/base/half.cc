#include "models/base/half.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bench {
namespace {

/// A binary format of 16 bits.
struct Format {
  int exponent_bits = 0;
  int fraction_bits = 0;
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] std::uint32_t infinity() const {
    return ((1U << exponent_bits) - 1) << fraction_bits;
  }
};
constexpr Format kBfloat16{.exponent_bits = 8, .fraction_bits = 7};
constexpr Format kFloat16{.exponent_bits = 5, .fraction_bits = 10};

std::uint16_t narrow(double value, Format format) {
  constexpr std::uint32_t kSignBit = 0x8000;
  const std::uint32_t sign = std::signbit(value) ? kSignBit : 0;
  if (std::isnan(value)) {
    const std::uint32_t quiet = 1U << (format.fraction_bits - 1);
    return static_cast<std::uint16_t>(sign | format.infinity() | quiet);
  }
  const double magnitude = std::abs(value);
  if (magnitude == 0) {
    return static_cast<std::uint16_t>(sign);
  }
  if (std::isinf(magnitude)) {
    return static_cast<std::uint16_t>(sign | format.infinity());
  }
  // Numbers below the smallest normal one share its exponent. Counted in units of the last place
  // the rounded magnitude is the encoding itself: a carry moves into the exponent.
  const int smallest = 1 - format.bias();
  const int exponent = std::max(std::ilogb(magnitude), smallest);
  const double units = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
  const auto base = static_cast<std::uint64_t>(exponent - smallest) << format.fraction_bits;
  const std::uint64_t bits = std::min<std::uint64_t>(base + static_cast<std::uint64_t>(units),
                                                     std::uint64_t{format.infinity()});
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(bits));
}

}  // namespace

float widen(Bfloat16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

float widen(Float16 value) {
  const std::uint32_t sign = std::uint32_t{value.bits & 0x8000U} << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1FU;
  const std::uint32_t fraction = value.bits & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign == 0 ? magnitude : -magnitude;
  }
  constexpr std::uint32_t kBias = 127 - 15;
  const std::uint32_t wide = exponent == 0x1F ? 0xFF : exponent + kBias;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

Bfloat16 narrow_to_bfloat16(double value) { return {narrow(value, kBfloat16)}; }
Float16 narrow_to_float16(double value) { return {narrow(value, kFloat16)}; }

}  // namespace bench
