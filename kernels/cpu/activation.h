#pragma once

#include "kernels/arguments.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// Padded zeros stay zero except for sigmoid and hard_sigmoid. Sigmoid and silu are right to
/// 4e-7 * (1 + |y|), the others to rounding, before y is rounded to `dtype`: f32, bf16 or f16. A
/// NaN stays. Waits.
void activation(ThreadTeam& team, const Activation& args);

void activation_backward(ThreadTeam& team, const ActivationBackward& args);

}  // namespace bench::cpu
