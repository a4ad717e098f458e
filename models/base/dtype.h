#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench {

/// Element types. `u8` also serves for blobs whose meaning only one backend knows.
enum class DType : std::uint8_t { f32, bf16, f16, f64, u8, s8, s32 };

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 8;
    case DType::f32:
    case DType::s32:
      return 4;
    case DType::bf16:
    case DType::f16:
      return 2;
    case DType::u8:
    case DType::s8:
      return 1;
  }
  return 0;
}

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::bf16:
      return "bf16";
    case DType::f16:
      return "f16";
    case DType::f64:
      return "f64";
    case DType::u8:
      return "u8";
    case DType::s8:
      return "s8";
    case DType::s32:
      return "s32";
  }
  return "?";
}

constexpr bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }
constexpr bool is_floating(DType dtype) {
  return is_half(dtype) || dtype == DType::f32 || dtype == DType::f64;
}

/// The type of sums over many elements of `dtype`, and of what a network learns: f64 for f64, else
/// f32.
constexpr DType accumulation_type(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace bench
