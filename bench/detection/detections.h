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
/// - At most the best 200 boxes of a class compete, all with a probability above 5 %;
/// - a box is dropped if its intersection over union with a better box of its class is a half or
///   more;
/// - the best 200 of all classes remain, by descending probability.
std::vector<Detection> find_objects(std::span<const float> logits);

}  // namespace bench
