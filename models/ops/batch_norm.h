#pragma once

#include <iosfwd>

#include "models/ops/epilogue.h"

namespace bench {

/// Batch normalisation over axis 1 of NxCxHxW: (x - mean) / sqrt(variance + epsilon), times gamma
/// if `scale`, plus beta; Ioffe and Szegedy, arXiv:1502.03167. The epilogue has no bias (beta is
/// one).
struct BatchNormAttributes {
  double epsilon = 1e-3;
  bool scale = true;
  Epilogue epilogue = {};
  /// Only for kBatchNormBackward: dy is the sum of two inputs, as at a join of two paths.
  bool two_gradients = false;
  /// Only for kBatchNormBackward: the activation's mask is recomputed from x and beta, because y
  /// was not kept. A residual is then not possible. If the reader of y rounds its factors to f16,
  /// its y has an error. The error is up to 2^-11 of beta - mean * scale, and of y - beta. An
  /// element nearer to 0 than that may get the wrong mask.
  bool mask_from_x = false;
  bool operator==(const BatchNormAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const BatchNormAttributes& attributes);

/// Positions of the inputs of the three ops; -1 for an absent input.
struct BatchNormInputs {
  int gamma = -1;
  int beta = -1;
  int mean = -1;
  int variance = -1;
  int residual = -1;
  /// The forward output, from which the backward pass takes the activation's mask.
  int y = -1;
  int second_dy = -1;
  int count = 0;
};

/// (x, [gamma], beta, [residual]) -> (y, mean[C], variance[C]) with the batch's mean and biased
/// variance.
extern const OpDef kBatchNorm;
BatchNormInputs batch_norm_inputs(const BatchNormAttributes& attributes);

/// (x, [gamma], beta, mean, variance, [residual]) -> y, with the given statistics.
extern const OpDef kBatchNormInference;
BatchNormInputs batch_norm_inference_inputs(const BatchNormAttributes& attributes);

/// (dy, x, [gamma], [beta], mean, variance, [y], [second dy]) -> (dx, dbeta, [dgamma],
/// [dresidual]), the derivative of kBatchNorm with the same attributes. With an activation, y is an
/// input, or beta if the mask comes from x.
extern const OpDef kBatchNormBackward;
BatchNormInputs batch_norm_backward_inputs(const BatchNormAttributes& attributes);

}  // namespace bench
