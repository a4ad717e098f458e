#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::cpu {

/// The inner loops of filter_gradient.h, in AVX-512. A pixel is 16 words of 32 bits, one per
/// channel. A word is a float, or the bf16 of two images, with image 2n in the lower half. That is
/// the format of the processor's dot product of bf16 pairs.
inline constexpr std::int64_t kPixelLanes = 16;
inline constexpr std::int64_t kPixelBytes = 64;

/// One row of dy and the row of x that a row of the filter multiplies it with.
struct RowPair {
  const std::byte* dy = nullptr;
  const std::byte* x = nullptr;
};

struct RowShape {
  std::int64_t out_width = 0;
  std::int64_t stride = 1;
  /// True if x begins under the filter's second column; true if it ends before its last one.
  bool first_is_cut = false;
  bool last_is_cut = false;
};

/// Adds the sums over all pixels of these rows to dw[3][16 in][16 out], one row of the filter.
void add_filter_gradient_f32(const RowShape& shape, std::span<const RowPair> rows, float* dw);
void add_filter_gradient_bf16(const RowShape& shape, std::span<const RowPair> rows, float* dw);

/// Interleaves the pixels of two images; a null `second` counts as zeros.
void pack_bf16_pixels(const std::uint16_t* first, const std::uint16_t* second, std::int64_t pixels,
                      std::uint32_t* to);

}  // namespace bench::cpu
