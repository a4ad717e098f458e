#pragma once

#include <cstdint>

namespace bench {

/// The upper half of an IEEE 754 binary32: 1 sign bit, 8 of exponent, 7 of fraction.
struct Bfloat16 {
  std::uint16_t bits = 0;
};
/// IEEE 754 binary16: 1 sign bit, 5 of exponent, 10 of fraction.
struct Float16 {
  std::uint16_t bits = 0;
};

/// Exact.
float widen(Bfloat16 value);
float widen(Float16 value);

/// To nearest, ties to even; what is too large becomes infinite, a NaN stays one. From double there
/// is one rounding only.
Bfloat16 narrow_to_bfloat16(double value);
Float16 narrow_to_float16(double value);

}  // namespace bench
