#pragma once

#include <cmath>

#include "models/zoo/builder.h"

namespace bench {

/// The initial values that PyTorch's layers have, and those that torchvision's models choose. As in
/// PyTorch, the fan out of a grouped convolution counts the outputs of all groups.

/// A uniform distribution over [-bound, bound].
inline Initializer uniform_within(double bound) {
  return {.kind = Initializer::Kind::uniform, .stddev = bound / std::sqrt(3.0)};
}

/// PyTorch's default initialisation of weights and biases: uniform within 1 / sqrt(fan in).
inline Initializer torch_default(const Fans& fans) {
  return uniform_within(1 / std::sqrt(fans.in));
}

/// Normal with variance 2 / fan in; He et al., arXiv:1502.01852.
inline Initializer he_normal_fan_in(const Fans& fans) {
  return {.kind = Initializer::Kind::normal, .stddev = std::sqrt(2 / fans.in)};
}

/// Normal with variance 2 / fan out.
inline Initializer he_normal_fan_out(const Fans& fans) {
  return {.kind = Initializer::Kind::normal, .stddev = std::sqrt(2 / fans.out)};
}

/// Uniform with variance 2 / fan in.
inline Initializer he_uniform_fan_in(const Fans& fans) {
  return uniform_within(std::sqrt(6 / fans.in));
}

/// Uniform with variance 2 / (fan in + fan out); Glorot and Bengio, AISTATS 2010.
inline Initializer glorot_uniform(const Fans& fans) {
  return uniform_within(std::sqrt(6 / (fans.in + fans.out)));
}

/// Normal with a deviation of 0.01.
inline Initializer normal_of_a_hundredth(const Fans& /*fans*/) {
  return {.kind = Initializer::Kind::normal, .stddev = 0.01};
}

}  // namespace bench
