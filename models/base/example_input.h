#pragma once

#include <cstdint>
#include <string>

#include "models/base/dtype.h"
#include "models/base/shape.h"

namespace bench {

/// An input of a network, for one example.
struct ExampleInput {
  std::string name;
  /// f32 or f64 for images and other real numbers, s32 for whole numbers.
  DType dtype = DType::s32;
  /// The shape of one example; a label is a scalar.
  Shape shape = {};
  /// Synthetic whole numbers are drawn for each batch, from `least` to `bound` - 1, all equally
  /// likely. Real ones are drawn once, uniformly from 0 to 1.
  std::int64_t least = 0;
  std::int64_t bound = 0;
  /// The share of synthetic whole numbers that is drawn, from 0.001 to 1. The others are 0.
  double share = 1;
};

}  // namespace bench
