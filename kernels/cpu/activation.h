#pragma once

#include <cstdint>

#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"
#include "models/ops/activation.h"

namespace bench::cpu {

/// kActivation of models/ops/activation.h on `count` elements in a line, whatever their layout; y
/// may be x. A NaN stays. Padded zeros stay zero but for sigmoid and hard_sigmoid. Sigmoid and silu
/// are right to 4e-7 * (1 + |y|), the others to rounding, before y is rounded to `dtype`: f32, bf16
/// or f16, of all tensors. Waits.
struct Activation {
  ActivationKind kind = ActivationKind::relu;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  const void* x = nullptr;
  void* y = nullptr;
};
void activation(ThreadTeam& team, const Activation& args);

/// kActivationBackward: dx = dy * f'. dx may be dy or v.
struct ActivationBackward {
  ActivationKind kind = ActivationKind::relu;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  const void* dy = nullptr;
  /// The forward output if derivative_from_output(kind), else the input.
  const void* v = nullptr;
  void* dx = nullptr;
};
void activation_backward(ThreadTeam& team, const ActivationBackward& args);

}  // namespace bench::cpu
