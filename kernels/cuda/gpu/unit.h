#pragma once

#include <cstdint>
#include <numeric>

#include "kernels/cuda/gpu/element.h"

// Kernels that only move elements move units: adjacent elements of any type, as many as extents and
// addresses allow.

namespace bench::cuda {

inline constexpr std::int64_t kLargestUnit = 16;

/// The largest unit, in bytes, that divides kLargestUnit and all of these numbers.
template <class... Bytes>
std::int64_t unit_bytes(Bytes... bytes) {
  std::int64_t unit = kLargestUnit;
  ((unit = std::gcd(unit, static_cast<std::int64_t>(bytes))), ...);
  return unit;
}

inline std::int64_t address_of(const void* pointer) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

/// Calls `body` with the ElementTag of a type of `bytes` bytes: 1, 2, 4, 8 or 16.
template <class Body>
void with_unit(std::int64_t bytes, const Body& body) {
  switch (bytes) {
    case 1:
      return body(ElementTag<std::uint8_t>{});
    case 2:
      return body(ElementTag<std::uint16_t>{});
    case 4:
      return body(ElementTag<std::uint32_t>{});
    case 8:
      return body(ElementTag<Pack<std::uint32_t, 2>>{});
    case kLargestUnit:
      return body(ElementTag<Pack<std::uint32_t, 4>>{});
    default:
      throw InternalError(fmt::format("cuda: no unit has {} bytes", bytes));
  }
}

}  // namespace bench::cuda
