#pragma once

#include <span>
#include <vector>

#include "pipeline/formats/rgbx_image.h"
#include "pipeline/input.h"
#include "pipeline/stages/resize_taps.h"

namespace bench {

using FloatTaps = WeightedTaps<float>;

/// TensorFlow 1's bicubic resize with align_corners false and no half-pixel centres: Keys' cubic
/// with a = -0.75, at distances in 1/1024.
FloatTaps bicubic_taps(const AxisResize& axis);
/// TensorFlow 1's area resize: the mean of the source positions that an output covers.
FloatTaps area_taps(const AxisResize& axis);
/// The same resize as the taps of two positions.
FloatTaps float_taps(const AxisTaps& taps);

/// Scales an image of three values per pixel, (value - mean) / deviation, and writes it in the
/// layout.
void pack_scaled(std::span<const float> values, const PixelScaling& scaling, SlotLayout layout,
                 float* output);

/// Resizes an image in floats, along y and then along x. One resizer serves one thread and reuses
/// its memory. It is slower than Resizer, but takes any taps and keeps the values.
class FloatResizer {
 public:
  /// Returns columns.outputs.size() x rows.outputs.size() pixels of three values, row by row, not
  /// rounded or clamped. They are valid until the next call. Taps must be within `source`.
  std::span<float> run(const RgbxView& source, const FloatTaps& columns, const FloatTaps& rows);

 private:
  /// One row of the source's width, resized along y: four values per pixel.
  std::vector<float> row_;
  std::vector<float> result_;
};

}  // namespace bench
