#pragma once

#include <cstdint>
#include <string>

#include "models/base/dtype.h"
#include "models/base/shape.h"

namespace bench {

/// An input of a network: what one example of a batch has of it.
struct ExampleInput {
  /// How synthetic values are drawn.
  enum class Synthetic : std::uint8_t {
    /// Once, as images.
    pixels,
    /// For each batch: whole numbers from 0 to `bound` - 1, all equally likely.
    numbers,
  };
  std::string name;
  /// f32 or f64 for pixels, s32 for numbers.
  DType dtype = DType::s32;
  /// The shape of one example; a label is a scalar.
  Shape shape = {};
  Synthetic synthetic = Synthetic::numbers;
  std::int64_t bound = 0;
};

}  // namespace bench
