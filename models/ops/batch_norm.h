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
  /// Of kBatchNormBackward alone: dy is the sum of two inputs, as where paths meet.
  bool two_gradients = false;
  /// Of kBatchNormBackward alone: the activation's mask comes from what x gives again, with beta,
  /// where nobody has kept y. There is no residual then. The y of a reader that rounds its factors
  /// to f16 is off by up to 2^-11 of beta - mean * scale, and of y - beta: an element that is
  /// nearer to 0 may have the mask of the other side.
  bool mask_from_x = false;
  bool operator==(const BatchNormAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const BatchNormAttributes& attributes);

/// Positions of the inputs of the three ops; -1 for one that is absent.
struct BatchNormInputs {
  int gamma = -1;
  int beta = -1;
  int mean = -1;
  int variance = -1;
  int residual = -1;
  /// The forward's output, from which the backward takes the activation's mask.
  int y = -1;
  int second_dy = -1;
  int count = 0;
};

/// (x, [gamma], beta, [residual]) -> (y, mean[C], variance[C]) with the batch's mean and biased
/// variance.
extern const OpDef kBatchNorm;
BatchNormInputs batch_norm_inputs(const BatchNormAttributes& attributes);

/// (x, [gamma], beta, mean, variance, [residual]) -> y with given statistics.
extern const OpDef kBatchNormInference;
BatchNormInputs batch_norm_inference_inputs(const BatchNormAttributes& attributes);

/// (dy, x, [gamma], [beta], mean, variance, [y], [second dy]) -> (dx, dbeta, [dgamma],
/// [dresidual]), the derivative of kBatchNorm with the same attributes. When an activation is
/// there, so is y, or beta where the mask comes from x.
extern const OpDef kBatchNormBackward;
BatchNormInputs batch_norm_backward_inputs(const BatchNormAttributes& attributes);

}  // namespace bench
