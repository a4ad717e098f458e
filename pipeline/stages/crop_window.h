#pragma once

#include <span>

#include "models/base/philox.h"
#include "pipeline/formats/rgbx_image.h"

namespace bench {

struct ImageSize {
  int width = 0;
  int height = 0;
};

/// An object's box as parts of the image's width and height, each in [0, 1].
struct RelativeBox {
  float x_min = 0;
  float y_min = 0;
  float x_max = 1;
  float y_max = 1;
};

/// What sample_distorted_box aims at; the defaults are the original's.
struct DistortedBoxOptions {
  float least_object_covered = 0.1F;
  float least_aspect = 0.75F;  ///< width / height
  float largest_aspect = 1.33F;
  float least_area = 0.05F;  ///< of the image's area
  float largest_area = 1.0F;
  int attempts = 100;
};

/// A random window of the image that covers enough of some box, as TensorFlow's
/// sample_distorted_bounding_box draws it; the whole image after all attempts have failed. No boxes
/// means one box around the whole image.
PixelWindow sample_distorted_box(ImageSize image, std::span<const RelativeBox> boxes,
                                 RandomStream& random, const DistortedBoxOptions& options = {});

/// A window of `size` at a uniformly random place; an axis on which the image is not larger is
/// taken whole.
PixelWindow sample_window(ImageSize image, ImageSize size, RandomStream& random);

/// The window of `size` around the centre (offset rounded down); an axis on which the image is not
/// larger is taken whole.
PixelWindow central_window(ImageSize image, ImageSize size);

}  // namespace bench
