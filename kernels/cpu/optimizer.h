#pragma once

#include <span>

#include "kernels/backend.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// One launch of bench::Optimizer, whose formulas kernels/backend.h gives.
struct OptimizerStep {
  OptimizerSettings settings{};
  std::span<const OptimizerSegment> segments{};
  float* variables = nullptr;
  const float* gradients = nullptr;
  /// Null for sgd.
  float* slots = nullptr;
  double learning_rate = 0;
  double gradient_scale = 1;
};
/// Updates variables and slots in place in one pass; elements outside the segments stay. The work
/// is split evenly among the threads whatever the segments' borders. Waits.
void optimizer_step(ThreadTeam& team, const OptimizerStep& args);

}  // namespace bench::cpu
