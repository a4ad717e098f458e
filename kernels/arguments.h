#pragma once

#include <cstdint>
#include <span>

#include "models/base/dtype.h"
#include "models/ops/activation.h"
#include "models/ops/spatial_pad.h"

// Arguments of kernels that are the same on CPUs and GPUs. `count` elements are contiguous, in any
// order. A View describes the memory layout of a tensor of batch x channels x spatial elements,
// which differs by device.

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

/// y = a + b or a * b, computed in f32. y may be a or b.
struct Binary {
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

/// kEmbedding of models/ops/embedding.h.
struct Embedding {
  std::int64_t rows = 0;     ///< of the table
  std::int64_t columns = 0;  ///< of the table
  std::int64_t count = 0;    ///< of the ids
  /// The type of the table and y: any.
  DType dtype = DType::f32;
  const void* table = nullptr;
  const std::int32_t* ids = nullptr;
  void* y = nullptr;
};

/// kBiasAdd of models/ops/bias_add.h: y = x + bias per channel. y may be x.
template <class View>
struct BiasAdd {
  View view;
  DType dtype = DType::f32;
  const void* x = nullptr;
  /// `channels` floats.
  const float* bias = nullptr;
  void* y = nullptr;
};

/// kBiasBackward: dbias, `channels` floats, is the sum of dy over all other axes.
template <class View>
struct BiasBackward {
  View view;
  DType dtype = DType::f32;
  const void* dy = nullptr;
  float* dbias = nullptr;
  void* workspace = nullptr;
};

/// kSpatialPad of models/ops/spatial_pad.h, of any type. y has x's layout and must not overlap it.
template <class View>
struct SpatialPad {
  /// The view of x; spatial is height * width.
  View view;
  std::int64_t height = 0;
  std::int64_t width = 0;
  SpatialPadAttributes pad;
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
};

/// kBatchNorm of models/ops/batch_norm.h. Vectors hold `channels` floats.
template <class View>
struct BatchNormForward {
  View view;
  DType dtype = DType::f32;
  const void* x = nullptr;
  /// Null: all ones.
  const float* gamma = nullptr;
  const float* beta = nullptr;
  /// Added before the activation; null: none.
  const void* residual = nullptr;
  ActivationKind activation = ActivationKind::none;
  double epsilon = 1e-3;
  /// May be x or residual.
  void* y = nullptr;
  float* mean = nullptr;
  /// The biased variance.
  float* variance = nullptr;
  void* workspace = nullptr;
  /// Only for GPUs.
  unsigned* tickets = nullptr;
};

/// kBatchNormInference: the same with given statistics.
template <class View>
struct BatchNormInference {
  View view;
  DType dtype = DType::f32;
  const void* x = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  const void* residual = nullptr;
  ActivationKind activation = ActivationKind::none;
  double epsilon = 1e-3;
  void* y = nullptr;
  /// Only for CPUs.
  void* workspace = nullptr;
};

/// kBatchNormBackward. With dz = (dy + second_dy) * the activation's slope, n elements per channel,
/// and xhat = (x - mean) / sqrt(variance + epsilon):
///
///   dbeta = sum(dz), dgamma = sum(dz * xhat), dresidual = dz,
///   dx = gamma / sqrt(variance + epsilon) * (dz - dbeta / n - xhat * dgamma / n);
///
/// Ioffe and Szegedy, arXiv:1502.03167, section 3.
template <class View>
struct BatchNormBackward {
  View view;
  DType dtype = DType::f32;
  const void* dy = nullptr;
  /// Added to dy; null: none.
  const void* second_dy = nullptr;
  const void* x = nullptr;
  const float* gamma = nullptr;
  /// Only for GPUs, and only read if y is recomputed.
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  ActivationKind activation = ActivationKind::none;
  /// The forward's output, for the activation's slope; not read without an activation. If null,
  /// GPUs recompute it from x, with exactly the bits of the inference.
  const void* y = nullptr;
  double epsilon = 1e-3;
  /// May be a dy, x or y, but not dresidual. On CPUs with a second dy and no dresidual neither x
  /// nor y.
  void* dx = nullptr;
  float* dbeta = nullptr;
  /// Null: not wanted.
  float* dgamma = nullptr;
  /// Null: no residual. May be a dy or y, but not x.
  void* dresidual = nullptr;
  void* workspace = nullptr;
  /// Only for GPUs.
  unsigned* tickets = nullptr;
};

}  // namespace bench
