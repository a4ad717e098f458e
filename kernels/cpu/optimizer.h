#pragma once

#include <span>

#include "kernels/cpu/thread_team.h"
#include "kernels/optimizer.h"

namespace bench::cpu {

// Of regions in f32; the threads share the elements evenly whatever the segments' borders.

/// bench::Optimizer::launch, of variables, slots and copies, in one pass over memory. Waits.
void update_variables(ThreadTeam& team, const OptimizerSettings& settings,
                      std::span<const OptimizerSegment> segments, const OptimizerMemory& memory,
                      const UpdateScalars& scalars);
/// bench::Optimizer::reset, of the slots alone. Waits.
void reset_slots(ThreadTeam& team, const OptimizerRule& rule,
                 std::span<const OptimizerSegment> segments, std::span<void* const> slots);

}  // namespace bench::cpu
