#pragma once

#include <vector>

#include "kernels/arguments.h"
#include "kernels/candidates.h"
#include "models/ops/batch_norm.h"

// What the makers of batch norm have in common on several devices: the positions of a node's inputs
// and outputs.

namespace bench {

/// The position of the residual's gradient in a backward node; negative without a residual.
int residual_gradient_of(const BatchNormAttributes& attributes);

/// y may overwrite x, or the residual if there is one.
std::vector<Candidate::Overwrite> overwrites_of_batch_norm(const BatchNormInputs& at);
/// With a residual, its gradient may overwrite dy and dx may overwrite x; without one, dx may
/// overwrite dy.
std::vector<Candidate::Overwrite> overwrites_of_batch_norm_backward(
    const BatchNormAttributes& attributes);

// The arguments of a launch.

template <class View>
BatchNormForward<View> batch_norm_arguments(const View& view, DType dtype,
                                            const BatchNormAttributes& attributes,
                                            const LaunchTensors& launch) {
  const BatchNormInputs at = batch_norm_inputs(attributes);
  return {.view = view,
          .dtype = dtype,
          .x = launch.in(0),
          .gamma = launch.floats_in(at.gamma),
          .beta = launch.floats_in(at.beta),
          .residual = launch.in(at.residual),
          .activation = attributes.epilogue.activation,
          .epsilon = attributes.epsilon,
          .y = launch.out(0),
          .mean = launch.floats_out(1),
          .variance = launch.floats_out(2),
          .workspace = launch.workspace};
}

template <class View>
BatchNormInference<View> batch_norm_inference_arguments(const View& view, DType dtype,
                                                        const BatchNormAttributes& attributes,
                                                        const LaunchTensors& launch) {
  const BatchNormInputs at = batch_norm_inference_inputs(attributes);
  return {.view = view,
          .dtype = dtype,
          .x = launch.in(0),
          .gamma = launch.floats_in(at.gamma),
          .beta = launch.floats_in(at.beta),
          .mean = launch.floats_in(at.mean),
          .variance = launch.floats_in(at.variance),
          .residual = launch.in(at.residual),
          .activation = attributes.epilogue.activation,
          .epsilon = attributes.epsilon,
          .y = launch.out(0),
          .workspace = launch.workspace};
}

template <class View>
BatchNormBackward<View> batch_norm_backward_arguments(const View& view, DType dtype,
                                                      const BatchNormAttributes& attributes,
                                                      const LaunchTensors& launch) {
  const BatchNormInputs at = batch_norm_backward_inputs(attributes);
  return {.view = view,
          .dtype = dtype,
          .dy = launch.in(0),
          .second_dy = launch.in(at.second_dy),
          .x = launch.in(1),
          .gamma = launch.floats_in(at.gamma),
          .beta = launch.floats_in(at.beta),
          .mean = launch.floats_in(at.mean),
          .variance = launch.floats_in(at.variance),
          .activation = attributes.epilogue.activation,
          .y = launch.in(at.y),
          .epsilon = attributes.epsilon,
          .dx = launch.out(0),
          .dbeta = launch.floats_out(1),
          .dgamma = launch.floats_out(attributes.scale ? 2 : -1),
          .dresidual = launch.out(residual_gradient_of(attributes)),
          .workspace = launch.workspace};
}

}  // namespace bench
