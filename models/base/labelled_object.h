#pragma once

#include <cstdint>
#include <vector>

#include "models/base/example_input.h"

namespace bench {

/// An object of an image, in the real numbers that an evaluation reads.
struct LabelledObject {
  float y_min = 0;  ///< the sides of its box, in pixels of the image file
  float x_min = 0;
  float y_max = 0;
  float x_max = 0;
  float category = 0;  ///< from 1; 0: this element is unused
  float area = 0;      ///< in square pixels: of its outline, or of its box
  float crowd = 0;     ///< 1: a group of objects
};

/// The height and width of an image file, in pixels.
struct LabelledImageSize {
  float height = 0;
  float width = 0;
};

/// The maximum number of objects of an image, as in tf_cnn_benchmarks.
inline constexpr std::int64_t kMostObjects = 200;

/// What the evaluation of a network that finds objects reads besides the images: kMostObjects times
/// LabelledObject, and LabelledImageSize.
inline std::vector<ExampleInput> labelled_object_inputs() {
  constexpr std::int64_t kNumber = sizeof(float);
  return {{.name = "objects",
           .dtype = DType::f32,
           .shape = {kMostObjects, std::int64_t{sizeof(LabelledObject)} / kNumber}},
          {.name = "image_size",
           .dtype = DType::f32,
           .shape = {std::int64_t{sizeof(LabelledImageSize)} / kNumber}}};
}

}  // namespace bench
