#pragma once

#include "kernels/cuda/device/device_api.h"
#include "models/ops/activation.h"

// The functions of models/ops/activation.h. A NaN stays a NaN: comparisons are written so that it
// falls through to the value itself. If all lanes have the same kind, they take the same branch.

namespace bench::cuda {

/// min(max(x, 0), 6).
__device__ inline float clamped_to_six(float x) { return x <= 0.0F ? 0.0F : x >= 6.0F ? 6.0F : x; }

/// 1 / (1 + exp(-x)), computed with the exponential of -|x|, which cannot overflow.
__device__ inline float sigmoid(float x) {
  const float small = expf(-fabsf(x));
  return (x < 0.0F ? small : 1.0F) / (1.0F + small);
}

inline constexpr float kOneSixth = 1.0F / 6.0F;

/// f(x).
__device__ inline float activated(ActivationKind kind, float x) {
  switch (kind) {
    case ActivationKind::none:
      break;
    case ActivationKind::relu:
      return x <= 0.0F ? 0.0F : x;
    case ActivationKind::relu6:
      return clamped_to_six(x);
    case ActivationKind::sigmoid:
      return sigmoid(x);
    case ActivationKind::tanh:
      return tanhf(x);
    case ActivationKind::hard_sigmoid:
      return clamped_to_six(x + 3.0F) * kOneSixth;
    case ActivationKind::silu:
      return x * sigmoid(x);
    case ActivationKind::hard_swish:
      return x * clamped_to_six(x + 3.0F) * kOneSixth;
  }
  return x;
}

/// f'. Its argument is the output if derivative_from_output(kind), else the input. It is 0 at a
/// kink, but 1 for hard-swish from 3 on.
__device__ inline float activation_slope(ActivationKind kind, float v) {
  switch (kind) {
    case ActivationKind::none:
      break;
    case ActivationKind::relu:
      return v > 0.0F ? 1.0F : 0.0F;
    case ActivationKind::relu6:
      return v > 0.0F && v < 6.0F ? 1.0F : 0.0F;
    case ActivationKind::sigmoid:
      return v * (1.0F - v);
    case ActivationKind::tanh:
      return 1.0F - v * v;
    case ActivationKind::hard_sigmoid:
      return v > 0.0F && v < 1.0F ? kOneSixth : 0.0F;
    case ActivationKind::silu: {
      const float s = sigmoid(v);
      return s * (1.0F + v * (1.0F - s));
    }
    case ActivationKind::hard_swish:
      return v <= -3.0F ? 0.0F : v >= 3.0F ? 1.0F : (2.0F * v + 3.0F) * kOneSixth;
  }
  return 1.0F;
}

template <ActivationKind kKind>
struct ActivationTag {
  static constexpr ActivationKind value = kKind;
};

/// Calls `body` with the kind's ActivationTag, so that many elements share one branch.
template <class Body>
__device__ void with_activation(ActivationKind kind, const Body& body) {
  switch (kind) {
    case ActivationKind::none:
      return body(ActivationTag<ActivationKind::none>{});
    case ActivationKind::relu:
      return body(ActivationTag<ActivationKind::relu>{});
    case ActivationKind::relu6:
      return body(ActivationTag<ActivationKind::relu6>{});
    case ActivationKind::sigmoid:
      return body(ActivationTag<ActivationKind::sigmoid>{});
    case ActivationKind::tanh:
      return body(ActivationTag<ActivationKind::tanh>{});
    case ActivationKind::hard_sigmoid:
      return body(ActivationTag<ActivationKind::hard_sigmoid>{});
    case ActivationKind::silu:
      return body(ActivationTag<ActivationKind::silu>{});
    case ActivationKind::hard_swish:
      return body(ActivationTag<ActivationKind::hard_swish>{});
  }
}

}  // namespace bench::cuda
