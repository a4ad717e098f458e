#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/formats/rgbx_image.h"
#include "pipeline/stages/resize_taps.h"

namespace bench {

/// How an antialiased resize weights source pixels by their distance from the output pixel's
/// centre. When an image shrinks, distances are measured in output pixels.
enum class ResizeFilter : std::uint8_t {
  triangle,  ///< 1 - |x| up to 1: Pillow's BILINEAR.
  cubic,     ///< Keys' cubic with a = -0.5, up to 2: Pillow's BICUBIC.
};

/// A weight's unit is 2^-22, as in Pillow for pixels of 8 bits.
using FixedTaps = WeightedTaps<std::int32_t>;

/// The same taps as Pillow's resize. An axis that keeps its size is copied.
FixedTaps antialiased_taps(const AxisResize& axis, ResizeFilter filter);

/// Resizes an image in two passes, each rounded to 8 bits: the same pixels as Pillow's
/// Image.resize. One resizer serves one thread and reuses its memory.
class AntialiasedResizer {
 public:
  /// Returns columns.outputs.size() x rows.outputs.size() pixels, three bytes each, row by row.
  /// They are valid until the next call. Taps must be within `source`.
  std::span<const std::uint8_t> run(const RgbxView& source, const FixedTaps& columns,
                                    const FixedTaps& rows);

 private:
  /// The rows that the second pass reads, resized along x; then the result.
  std::vector<std::uint8_t> wide_;
  std::vector<std::uint8_t> result_;
  std::vector<std::int32_t> sums_;
};

}  // namespace bench
