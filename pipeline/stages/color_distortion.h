#pragma once

#include <span>

#include "models/base/philox.h"

namespace bench {

/// A random change of an image's colours, with the ranges and the order of tf_cnn_benchmarks.
struct ColorDistortion {
  float brightness = 0;       ///< added; values are from 0 to 1
  float saturation = 1;       ///< a factor
  float hue = 0;              ///< in turns
  float contrast = 1;         ///< a factor of the distance to the channel's mean
  bool contrast_last = true;  ///< false: before saturation and hue
  /// Change saturation and hue together in the YIQ space, by one matrix; false: in HSV.
  bool yiq = true;
};

/// Draws a distortion. Images at even positions have contrast_last.
ColorDistortion draw_color_distortion(RandomStream& random, bool yiq, bool even);

/// Distorts an image of three values per pixel, from 0 to 255. The result is clamped to this range.
void distort_colors(std::span<float> pixels, const ColorDistortion& distortion);

}  // namespace bench
