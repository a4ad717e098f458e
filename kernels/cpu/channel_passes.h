#pragma once

#include <cstddef>
#include <cstdint>

#include "models/base/dtype.h"
#include "models/ops/activation.h"

namespace bench::cpu {

/// Single-threaded vector passes over consecutive rows of one group (channel_view.h); the
/// per-channel kernels use them. Per-channel arrays point at the group's first channel and hold
/// `width` values. Tensors' elements are f32, bf16 or f16; everything else is f32.

/// The rows and width of a piece.
struct RowBlock {
  std::int64_t rows = 0;
  std::int64_t width = 0;
};

/// Lanes of an accumulator for width 1, at least as many as any vector has.
inline constexpr std::int64_t kPlaneLanes = 64;
/// Floats of an accumulator for this width: one per channel, or a vector of partial sums for width
/// 1.
inline std::int64_t accumulator_floats(std::int64_t width) {
  return width == 1 ? kPlaneLanes : width;
}
/// Elements per f32 partial sum before it is added to a double.
inline constexpr std::int64_t kSumRows = 128;
/// The same for width 1, where the lanes of a vector share the work.
inline constexpr std::int64_t kSumElements = 4096;

/// Running moments of one group: the number of rows, and per channel the mean and the sum of
/// squared deviations from it.
struct Moments {
  std::int64_t count = 0;
  double* mean = nullptr;
  double* m2 = nullptr;
};

/// Accumulators of f32 partial sums, accumulator_floats(width) each. `shift` holds width values.
struct Accumulators {
  float* first = nullptr;
  float* second = nullptr;
  float* shift = nullptr;
};

/// Rows of a tensor's elements.
struct Elements {
  const void* data = nullptr;
  DType dtype = DType::f32;
};

/// first += x - shift and second += (x - shift)^2.
void add_shifted_moments(Elements x, RowBlock block, const Accumulators& sums);
/// Merges `rows` rows accumulated by add_shifted_moments into `moments`, clears the sums and sets
/// the shift to the current mean. Source: Chan, Golub, LeVeque, "Updating formulae and a pairwise
/// algorithm for computing sample variances", 1979. A shift near the mean keeps the f32 sums small
/// relative to the variance. If it is not near, the distance itself is part of the variance.
void merge_moments(std::int64_t rows, std::int64_t width, const Accumulators& sums,
                   Moments& moments);

/// first += x.
void add_sums(Elements x, RowBlock block, float* first);
/// total += first, then first = 0.
void flush_sums(std::int64_t width, float* first, double* total);

/// y = (x - mean) * scale + shift [+ residual], then activated: none, ReLU or ReLU6. A null
/// residual is omitted. y may be x or residual.
struct Normalize {
  DType dtype = DType::f32;
  const void* x = nullptr;
  const void* residual = nullptr;
  void* y = nullptr;
  const float* mean = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  ActivationKind activation = ActivationKind::none;
};
void normalize(RowBlock block, const Normalize& args);

/// dz is dy [+ second_dy] after the activation's backward: all of it for none, where y > 0 for
/// ReLU, where 0 < y < 6 for ReLU6, else 0. Adds dz to `first` and dz * (x - mean) to `second`.
/// Writes dz to `dz` unless that is null; with a second_dy it must not be null. It may be a dy.
/// Reads y if there is an activation.
struct GradientSums {
  DType dtype = DType::f32;
  const void* dy = nullptr;
  const void* second_dy = nullptr;
  const void* x = nullptr;
  const void* y = nullptr;
  ActivationKind activation = ActivationKind::none;
  void* dz = nullptr;
  const float* mean = nullptr;
  float* first = nullptr;
  float* second = nullptr;
};
void add_gradient_sums(RowBlock block, const GradientSums& args);

/// dx = scale * dz - slope * (x - mean) - offset, with dz from one dy as above. dx may be dy.
struct InputGradient {
  DType dtype = DType::f32;
  const void* dy = nullptr;
  const void* x = nullptr;
  const void* y = nullptr;
  ActivationKind activation = ActivationKind::none;
  void* dx = nullptr;
  const float* mean = nullptr;
  const float* scale = nullptr;
  const float* slope = nullptr;
  const float* offset = nullptr;
};
void input_gradient(RowBlock block, const InputGradient& args);

/// y = x + bias. y may be x.
struct AddBias {
  DType dtype = DType::f32;
  const void* x = nullptr;
  const float* bias = nullptr;
  void* y = nullptr;
};
void add_bias(RowBlock block, const AddBias& args);

/// y = values, in every row.
struct Broadcast {
  DType dtype = DType::f32;
  const float* values = nullptr;
  void* y = nullptr;
};
void broadcast(RowBlock block, const Broadcast& args);

}  // namespace bench::cpu
