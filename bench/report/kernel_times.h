#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/executor.h"
#include "results/environment/clock.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {

/// The times of a step's parts on one tower's device, from events around every kernel. They come
/// from separate steps, because the steps that measure speed contain no events.
struct KernelTimes {
  std::int64_t steps = 0;
  /// Means over the steps in seconds: of the whole step without input, of each step of the plan,
  /// and of the update (0 without an update).
  double whole = 0;
  std::vector<double> kernels;
  double update = 0;
  /// The part of the update that exchanged data with other towers, including waits for them. It is
  /// 0 if the device does not compute in host memory.
  double exchange = 0;
  /// The mean of Backend::sample_flops() after each step; empty without samples.
  std::optional<double> flops_per_second;
  /// The last step: its start by the host's clock, and its times relative to that start.
  struct Last {
    std::chrono::steady_clock::time_point begun;
    std::vector<Executor::StepTime> kernels;
    /// Begin and end are 0 without an update.
    Executor::StepTime update;
    /// The same as KernelTimes::exchange.
    std::chrono::nanoseconds exchange{};
  };
  Last last;
};

/// Runs at least one and up to ten more steps of every tower on the last batch, for at most three
/// seconds on the clock. In a training run it updates the variables. All towers run concurrently.
/// They add gradients after the backward pass, so no kernel's time includes that. Calls `watch` for
/// each step. With a type it also samples the speed of its arithmetic. Returns the times in the
/// order of the towers. Waits for the devices.
std::vector<KernelTimes> time_kernels(Towers& towers, const Clock& clock, const Watch& watch = {},
                                      std::optional<DType> sampled = {});

}  // namespace bench
