#pragma once

#include "kernels/cuda/device/device_api.h"
#include "kernels/optimizer.h"

// The rules of kernels/optimizer.h as device code; included only by optimizer.cu. The function
// rate() runs once per block. The function variable() runs for each element, returns the new
// variable and updates the slots.

namespace bench::cuda {

struct SgdOnGpu {
  static constexpr int kSlots = 0;
  explicit SgdOnGpu(const SgdRule& /*rule*/) {}
  [[nodiscard]] __device__ float rate(const UpdateScalars& scalars) const {
    return static_cast<float>(scalars.learning_rate);
  }
  [[nodiscard]] __device__ float variable(float w, float g, float rate, float* /*slots*/) const {
    return fmaf(-rate, g, w);
  }
};

struct MomentumOnGpu {
  static constexpr int kSlots = 1;
  explicit MomentumOnGpu(const MomentumRule& rule) : momentum(static_cast<float>(rule.momentum)) {}
  float momentum;
  [[nodiscard]] __device__ float rate(const UpdateScalars& scalars) const {
    return static_cast<float>(scalars.learning_rate);
  }
  [[nodiscard]] __device__ float variable(float w, float g, float rate, float* slots) const {
    slots[0] = fmaf(momentum, slots[0], g);
    return fmaf(-rate, fmaf(momentum, slots[0], g), w);
  }
};

struct RmspropOnGpu {
  static constexpr int kSlots = 2;
  explicit RmspropOnGpu(const RmspropRule& rule)
      : decay(static_cast<float>(rule.decay)),
        rest(static_cast<float>(1 - rule.decay)),
        momentum(static_cast<float>(rule.momentum)),
        epsilon(static_cast<float>(rule.epsilon)) {}
  float decay;
  float rest;
  float momentum;
  float epsilon;
  [[nodiscard]] __device__ float rate(const UpdateScalars& scalars) const {
    return static_cast<float>(scalars.learning_rate);
  }
  [[nodiscard]] __device__ float variable(float w, float g, float rate, float* slots) const {
    slots[0] = fmaf(decay, slots[0], rest * (g * g));
    slots[1] = fmaf(momentum, slots[1], rate * g / sqrtf(slots[0] + epsilon));
    return w - slots[1];
  }
};

struct AdamOnGpu {
  static constexpr int kSlots = 2;
  explicit AdamOnGpu(const AdamRule& rule)
      : exact_beta1(rule.beta1),
        exact_beta2(rule.beta2),
        beta1(static_cast<float>(rule.beta1)),
        rest1(static_cast<float>(1 - rule.beta1)),
        beta2(static_cast<float>(rule.beta2)),
        rest2(static_cast<float>(1 - rule.beta2)),
        epsilon(static_cast<float>(rule.epsilon)) {}
  double exact_beta1;
  double exact_beta2;
  float beta1;
  float rest1;
  float beta2;
  float rest2;
  float epsilon;
  /// base^exponent, in f64: in f32, one minus a power near one would keep few digits.
  [[nodiscard]] static __device__ double power(double base, std::int64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent /= 2) {
      if (exponent % 2 != 0) {
        result *= base;
      }
      base *= base;
    }
    return result;
  }
  /// The factor before m in the formula.
  [[nodiscard]] __device__ float rate(const UpdateScalars& scalars) const {
    const auto rest_of_squares = static_cast<float>(1 - power(exact_beta2, scalars.update));
    const auto rest_of_means = static_cast<float>(1 - power(exact_beta1, scalars.update));
    return static_cast<float>(scalars.learning_rate) * sqrtf(rest_of_squares) / rest_of_means;
  }
  [[nodiscard]] __device__ float variable(float w, float g, float rate, float* slots) const {
    slots[0] = fmaf(beta1, slots[0], rest1 * g);
    slots[1] = fmaf(beta2, slots[1], rest2 * (g * g));
    return w - rate * slots[0] / (sqrtf(slots[1]) + epsilon);
  }
};

struct LarsOnGpu {
  static constexpr int kSlots = 1;
  explicit LarsOnGpu(const LarsRule& rule) : momentum(static_cast<float>(rule.momentum)) {}
  float momentum;
  /// Without the trust ratio, by which the caller multiplies it.
  [[nodiscard]] __device__ float rate(const UpdateScalars& scalars) const {
    return static_cast<float>(scalars.learning_rate);
  }
  [[nodiscard]] __device__ float variable(float w, float g, float rate, float* slots) const {
    slots[0] = fmaf(momentum, slots[0], rate * g);
    return w - slots[0];
  }
};

inline SgdOnGpu on_gpu(const SgdRule& rule) { return SgdOnGpu(rule); }
inline MomentumOnGpu on_gpu(const MomentumRule& rule) { return MomentumOnGpu(rule); }
inline RmspropOnGpu on_gpu(const RmspropRule& rule) { return RmspropOnGpu(rule); }
inline AdamOnGpu on_gpu(const AdamRule& rule) { return AdamOnGpu(rule); }
inline LarsOnGpu on_gpu(const LarsRule& rule) { return LarsOnGpu(rule); }

}  // namespace bench::cuda
