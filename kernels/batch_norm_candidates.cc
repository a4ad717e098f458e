#include "kernels/batch_norm_candidates.h"

namespace bench {

int residual_gradient_of(const BatchNormAttributes& attributes) {
  // Outputs: dx, dbeta, then dgamma and dresidual if there are such inputs.
  return !attributes.epilogue.residual ? -1 : attributes.scale ? 3 : 2;
}

std::vector<Candidate::Overwrite> overwrites_of_batch_norm(const BatchNormInputs& at) {
  std::vector<Candidate::Overwrite> overwrites{{.output = 0, .input = 0}};
  if (at.residual >= 0) {
    overwrites.push_back({.output = 0, .input = static_cast<std::size_t>(at.residual)});
  }
  return overwrites;
}

std::vector<Candidate::Overwrite> overwrites_of_batch_norm_backward(
    const BatchNormAttributes& attributes) {
  const int dresidual = residual_gradient_of(attributes);
  const int second_dy = batch_norm_backward_inputs(attributes).second_dy;
  const std::size_t of_dy = dresidual >= 0 ? static_cast<std::size_t>(dresidual) : 0;
  std::vector<Candidate::Overwrite> overwrites{{.output = of_dy, .input = 0}};
  if (dresidual >= 0) {
    overwrites.push_back({.output = 0, .input = 1});
  }
  if (second_dy >= 0) {
    overwrites.push_back({.output = of_dy, .input = static_cast<std::size_t>(second_dy)});
  }
  return overwrites;
}

}  // namespace bench
