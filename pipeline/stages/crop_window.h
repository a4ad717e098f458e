#pragma once

#include <span>

#include "models/base/philox.h"
#include "pipeline/formats/rgbx_image.h"

namespace bench {

struct ImageSize {
  int width = 0;
  int height = 0;
};

/// An object's box as fractions of the image's width and height, each in [0, 1].
struct RelativeBox {
  float x_min = 0;
  float y_min = 0;
  float x_max = 1;
  float y_max = 1;
};

/// Limits for sample_distorted_box; the defaults are the original's.
struct DistortedBoxOptions {
  float least_object_covered = 0.1F;
  float least_aspect = 0.75F;  ///< width / height
  float largest_aspect = 1.33F;
  float least_area = 0.05F;  ///< of the image's area
  float largest_area = 1.0F;
  int attempts = 100;
};

/// A random window of the image that covers enough of some box, drawn as TensorFlow's
/// sample_distorted_bounding_box does. Returns the whole image if all attempts fail. Without boxes,
/// one box covers the whole image.
PixelWindow sample_distorted_box(ImageSize image, std::span<const RelativeBox> boxes,
                                 RandomStream& random, const DistortedBoxOptions& options = {});

/// A window of `size` at a uniformly random place. An axis on which the image is not larger is used
/// in full.
PixelWindow sample_window(ImageSize image, ImageSize size, RandomStream& random);

/// The window of `size` around the centre (offset rounded down). An axis on which the image is not
/// larger is used in full.
PixelWindow central_window(ImageSize image, ImageSize size);

}  // namespace bench
