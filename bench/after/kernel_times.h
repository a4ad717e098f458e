#pragma once

#include <cstdint>
#include <vector>

#include "bench/host/clock.h"
#include "kernels/executor.h"
#include "variable_mgmt/towers.h"

namespace bench {

/// Where a step's time goes on the device, by events around every kernel: in steps of their own,
/// since a step whose speed is measured has no events in it.
struct KernelTimes {
  std::int64_t steps = 0;
  /// Mean of a step: of the whole, input left out; of each step of the plan; of the update, 0
  /// without one. In seconds.
  double whole = 0;
  std::vector<double> kernels;
  double update = 0;
  /// Of the last step.
  std::vector<Executor::StepTime> last;
};

/// Runs up to ten more steps of a lone tower on the batch that was last fed, until three seconds
/// are over by the clock, but one at least; in a training run the variables are updated. `watch`
/// hears of each. Waits.
KernelTimes time_kernels(Towers& towers, const Clock& clock, const Watch& watch = {});

}  // namespace bench
