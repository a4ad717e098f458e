#pragma once

#include <cstdint>
#include <string>

#include "models/base/dtype.h"
#include "models/base/shape.h"

namespace bench {

/// An input of a network, for one example.
struct ExampleInput {
  std::string name;
  /// f32 or f64 for images, s32 for whole numbers.
  DType dtype = DType::s32;
  /// The shape of one example; a label is a scalar.
  Shape shape = {};
  /// Synthetic numbers are drawn for each batch, from 0 to `bound` - 1, all equally likely.
  std::int64_t bound = 0;
};

}  // namespace bench
