#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/base/philox.h"
#include "pipeline/stages/crop_window.h"

namespace bench {

/// A part of an image for training a detector.
struct DetectionCrop {
  RelativeBox window;
  /// The objects that remain: those whose centre is in the window.
  std::vector<std::size_t> objects;
};

/// A random window of the image, drawn as tf_cnn_benchmarks does for SSD300. In one of seven draws,
/// the window is the whole image. In the others:
///
/// - each side is 0.3 to 1 of the image's, and neither share is twice the other;
/// - all objects overlap the window by more than 0, 0.1, 0.3, 0.5, 0.7 or 0.9 of the union;
/// - at least one object has its centre in it.
///
/// After 50 windows without all of this, it draws again. Without objects, the window is the whole
/// image.
DetectionCrop sample_detection_crop(std::span<const RelativeBox> objects, RandomStream& random);

/// The part of a box that is in the window, as shares of the window's sides.
RelativeBox box_in_window(const RelativeBox& box, const RelativeBox& window);

/// The window's pixels, rounded as in tf_cnn_benchmarks; at least one.
PixelWindow pixels_of(const RelativeBox& window, ImageSize image);

}  // namespace bench
