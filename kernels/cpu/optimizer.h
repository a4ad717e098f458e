#pragma once

#include <span>

#include "kernels/cpu/thread_team.h"
#include "kernels/optimizer.h"

namespace bench::cpu {

/// What both functions work on, in f32; the threads share the elements evenly whatever the
/// segments' borders.
struct OptimizerRegions {
  std::span<const OptimizerSegment> segments{};
  float* variables = nullptr;
  const float* gradients = nullptr;
  std::span<void* const> slots{};
};
/// bench::Optimizer::launch in one pass over memory. Waits.
void update_variables(ThreadTeam& team, const OptimizerSettings& settings,
                      const OptimizerRegions& regions, const UpdateScalars& scalars);
/// bench::Optimizer::reset, of the slots alone. Waits.
void reset_slots(ThreadTeam& team, const OptimizerRule& rule, const OptimizerRegions& regions);

}  // namespace bench::cpu
