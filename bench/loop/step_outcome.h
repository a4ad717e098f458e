#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "bench/loop/report.h"
#include "bench/loop/session.h"
#include "bench/loop/stopping_rule.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// The result of one step.
struct StepOutcome {
  std::chrono::nanoseconds duration{};
  /// The duration on the device.
  std::optional<std::chrono::nanoseconds> device{};
  /// The time of transfers to the device.
  std::chrono::nanoseconds transfers{};
  double loss = 0;
  report::Accuracies accuracies{};
  /// Why this is the last step, if it is.
  Stop stop = Stop::none;
};

/// The mean over all towers, or over the runs of a tower's network, except the times, which
/// are the maximum.
StepOutcome mean_outcome(const std::vector<StepOutcome>& outcomes);

/// Adds a measured step's times and loss to the result.
void append_outcome(const StepOutcome& outcome, const Workload& workload, SessionResult& result);

/// The accuracies, if the workload computes them.
std::optional<report::Accuracies> accuracies_of(const StepOutcome& outcome,
                                                const Workload& workload);

/// Returns the outcome that all processes report. Losses and accuracies are means. The stop is an
/// interruption of any process, otherwise rank 0's. Waits for all ranks.
StepOutcome agreed_outcome(World& world, const StepOutcome& own);

}  // namespace bench
