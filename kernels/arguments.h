#pragma once

#include <cstdint>
#include <span>

#include "models/base/dtype.h"
#include "models/ops/activation.h"

// Arguments of kernels that are the same on CPUs and GPUs. `count` elements are contiguous, in any
// order.

namespace bench {

/// kActivation of models/ops/activation.h. y may be x.
struct Activation {
  ActivationKind kind = ActivationKind::relu;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  const void* x = nullptr;
  void* y = nullptr;
};

/// kActivationBackward: dx = dy * f'. dx may be dy or v.
struct ActivationBackward {
  ActivationKind kind = ActivationKind::relu;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  const void* dy = nullptr;
  /// The forward's output if derivative_from_output(kind), else its input.
  const void* v = nullptr;
  void* dx = nullptr;
};

/// y = a + b, with a sum in f32. y may be a or b.
struct Add {
  DType dtype = DType::f32;
  std::int64_t count = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* y = nullptr;
};

/// kCast of models/ops/cast.h: to nearest, ties to even. y may be x if the types are equal.
/// Otherwise they must not overlap.
struct Cast {
  std::int64_t count = 0;
  DType from = DType::f32;
  const void* x = nullptr;
  DType to = DType::f32;
  void* y = nullptr;
};

/// A pair of kMovingAverage of models/ops/moving_average.h:
/// y = decay * running + (1 - decay) * factor * batch. y may be running.
struct MovingAverage {
  std::int64_t count = 0;
  const float* running = nullptr;
  const float* batch = nullptr;
  double decay = 0.999;
  double factor = 1;
  float* y = nullptr;
};

/// A range of every row that JoinRows writes.
struct RowPart {
  /// The part's row r begins at x + r * stride. Null means zeros.
  const void* x = nullptr;
  std::int64_t width = 0;
  std::int64_t stride = 0;
};

/// Concatenates the parts into every row of y, whose rows are dense. Concatenation, slices and zero
/// padding over the channels have this form. A row is a pixel in nhwc and a sample in nchw. In a
/// blocked layout it is a sample if the parts are whole blocks. y must not overlap a part.
struct JoinRows {
  /// The type of the parts and y: any. Widths and strides count elements.
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::span<const RowPart> parts;
  void* y = nullptr;
};

}  // namespace bench
