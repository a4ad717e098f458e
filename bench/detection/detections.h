#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/box.h"

namespace bench {

/// An object that a network found.
struct Detection {
  Box box;                    ///< in shares of the image's height and width; may exceed the image
  std::int32_t category = 0;  ///< from 1; 0 is the background
  double score = 0;           ///< the probability of the class
};

/// What SSD300 finds in an image. Its logits are kDefaultBoxes rows of four offsets and a score per
/// class, the background's first.
///
/// - The boxes of a class with a probability above 5 % compete, at most the best 200 of them;
/// - a box is dropped if it shares half of its union or more with a better box of its class;
/// - the best 200 of all classes remain, by descending probability.
///
/// tf_cnn_benchmarks computes the union wrongly, so that other boxes remain.
std::vector<Detection> find_objects(std::span<const float> logits);

}  // namespace bench
