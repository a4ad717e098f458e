#pragma once

#include <chrono>
#include <iosfwd>
#include <memory>
#include <optional>
#include <vector>

#include "bench/host/clock.h"
#include "bench/host/progress.h"
#include "bench/host/timed_watch.h"
#include "bench/loop/report.h"
#include "bench/loop/stopping_rule.h"
#include "bench/loop/tower_shares.h"
#include "bench/plan/settings.h"
#include "pipeline/input.h"
#include "variable_mgmt/towers.h"

namespace bench {

/// What the step loop works with.
struct SessionParts {
  Towers& towers;
  /// Gives the images of all towers at once, those of the first one first.
  InputSource& input;
  const Clock& clock;
  StoppingRule& stopping;
  std::ostream& out;
  std::ostream& progress;
  Terminal progress_terminal = {};
  /// Watches the measured steps; null: nothing does.
  TimedWatch* watch = nullptr;
};

/// What the loop measured.
struct SessionResult {
  std::vector<std::chrono::nanoseconds> steps;
  /// What each of them took the device by its own clock, from the step's beginning to its end on
  /// the device; of several the longest. Empty where they compute in the host's memory.
  std::vector<std::chrono::nanoseconds> device_steps;
  /// The devices replay steps as a whole: the host holds nothing up within one.
  bool replayed = false;
  /// The reported loss of each of them; empty for a forward-only run.
  std::vector<double> losses;
  /// Their accuracies; empty where none are computed.
  std::vector<report::Accuracies> accuracies;
  /// UpdateStrategy::gradients_meet() of several towers; else empty.
  std::string gradients_meet;
  /// From the end of warm-up to the end of the last step.
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds input_wait{};
  /// Of several towers, or of a run of --scaling_sweep, over the measured steps; empty else, and of
  /// devices with memory of their own, for kNotTimedByPart.
  std::vector<TowerShare> shares;
  /// The clock when the first warm-up step (or, without any, the first step) began.
  std::chrono::nanoseconds first_step_at{};
  std::int64_t warmup_steps = 0;
  std::optional<double> loss_first;
  std::optional<double> loss_last;
  std::optional<double> top_1;
  std::optional<double> top_5;
  /// Steps, warm-up included, that left the variables alone for a gradient that is not finite.
  std::int64_t skipped_updates = 0;
  /// Why they ended; none for a step that failed.
  Stop stop = Stop::none;

  /// Steps that were completed, warm-up included.
  [[nodiscard]] std::int64_t global_steps() const {
    return warmup_steps + static_cast<std::int64_t>(steps.size());
  }
};

/// The loss is no number any more.
class LossError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How long the settings want a run to be.
StepLimits step_limits(const RunSettings& settings);

/// A step runs on every tower, each on its own part of the batch, and ends when all are done: what
/// it reports is the mean of theirs. Warms up, then runs and times the steps until the rule ends
/// them, printing tf_cnn_benchmarks' lines from "Running warm up" to the last step line, and the
/// total unless the run was interrupted. Throws LossError for a loss that is not finite; `result`
/// holds what was measured until then.
void run_session(const RunSettings& settings, const SessionParts& parts, SessionResult& result);

}  // namespace bench
