#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <vector>

#include "bench/loop/finite_results.h"
#include "bench/loop/report.h"
#include "bench/loop/step_times.h"
#include "bench/loop/stopping_rule.h"
#include "bench/plan/settings.h"
#include "bench/terminal/progress.h"
#include "pipeline/input.h"
#include "results/environment/clock.h"
#include "results/environment/timed_watch.h"
#include "variable_mgmt/towers/towers.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// A training step of all towers.
struct CompletedStep {
  /// The number of completed steps since the beginning of training, warm-up included.
  std::int64_t steps = 0;
  /// The same without the training's warm-up; 0 or less during the warm-up.
  std::int64_t measured = 0;
  /// The place of the next batch.
  InputPosition next = {};
  double loss = 0;
  /// Unset if they are not computed.
  std::optional<report::Accuracies> accuracies = {};
  double learning_rate = 0;
  /// No step follows.
  bool last = false;
};

/// The objects that the step loop uses.
struct SessionParts {
  Towers& towers;
  /// Provides the images of all towers together, in the order of the towers.
  InputSource& input;
  const Clock& clock;
  StoppingRule& stopping;
  std::ostream& out;
  std::ostream& progress;
  Terminal progress_terminal = {};
  /// Watches the measured steps; may be null.
  TimedWatch* watch = nullptr;
  /// The processes of the run. They all take the same steps, unless they are asynchronous. Null:
  /// this one alone.
  World* world = nullptr;
  /// The completed steps of the run that this one continues.
  std::int64_t steps_before = 0;
  /// How many of the training's first steps were its warm-up. Unset: this run decides that.
  std::optional<std::int64_t> training_warmup = {};
  /// Gives a tower the state after those steps; called on its thread. Empty: a new run.
  std::function<void(int tower)> restore = {};
  /// Called after each step, whose time does not include it. Returns false to end the run. May be
  /// empty.
  std::function<bool(const CompletedStep& step)> after_step = {};
};

/// The measurements of the loop. If workers are asynchronous, steps are their JointSteps, as this
/// process sees them.
struct SessionResult {
  std::vector<std::chrono::nanoseconds> steps;
  /// The duration of each measured step on the device's clock, from begin to end; the maximum over
  /// several devices. Empty if the devices compute in host memory.
  std::vector<std::chrono::nanoseconds> device_steps;
  /// The devices replay whole steps, so the host cannot delay them within a step.
  bool replayed = false;
  /// The reported loss of each measured step; empty for a forward-only run.
  std::vector<double> losses;
  /// The accuracies of each measured step; empty if they are not computed.
  std::vector<report::Accuracies> accuracies;
  /// UpdateStrategy::reduced_on() with several towers; else empty.
  std::string reduced_on;
  /// From the end of warm-up to the end of the last step, without pauses between steps and without
  /// `printing`.
  std::chrono::nanoseconds wall{};
  /// The time of printing step lines. Their statistics cover all steps so far, so a line may take
  /// longer than a short step. 0 with asynchronous workers, whose `wall` includes it.
  std::chrono::nanoseconds printing{};
  std::chrono::nanoseconds input_wait{};
  /// What the input did in that time.
  InputStatistics input;
  /// The time on the devices' clock in `own_steps`, and that of transfers to the devices. With
  /// several devices, the longest in each step. 0 if the devices compute in host memory.
  std::chrono::nanoseconds computed{};
  std::chrono::nanoseconds transfers{};
  /// The processors that this process may use, within its quota of processor time.
  int processors = 1;
  /// The threads of its CPU devices, in total.
  int device_threads = 1;
  /// How long the control group's quota stopped the process in that time, summed over the
  /// processors; 0 if unknown.
  std::chrono::nanoseconds throttled{};
  /// The time of each tower by part over the measured steps, with several towers or in a run of
  /// --scaling_sweep. Otherwise empty, as with devices that have separate memory, for the reason
  /// kNotTimedByPart.
  std::vector<StepTimes> shares;
  /// The steps that this process took in that time. They differ from `steps` only if workers are
  /// asynchronous.
  std::int64_t own_steps = 0;
  /// With asynchronous workers: ServerReply::staleness of each update that this process made.
  std::optional<std::vector<std::int64_t>> staleness;
  /// The clock when the first warm-up step (or, without any, the first step) began.
  std::chrono::nanoseconds first_step_at{};
  std::int64_t warmup_steps = 0;
  /// SessionParts::steps_before.
  std::int64_t steps_before = 0;
  /// How many of the training's first steps were its warm-up.
  std::int64_t training_warmup = 0;
  /// The time in SessionParts::after_step since measuring began.
  std::chrono::nanoseconds paused{};
  /// The place of the batch after the last step.
  InputPosition next_input = {};
  std::optional<double> loss_first;
  std::optional<double> loss_last;
  std::optional<double> top_1;
  std::optional<double> top_5;
  /// The steps, warm-up included, that skipped the update because of a non-finite gradient.
  std::int64_t skipped_updates = 0;
  /// Why the steps ended; Stop::none after a failed step.
  Stop stop = Stop::none;

  /// True if no step is missing: neither a failure nor the user ended the steps.
  [[nodiscard]] bool all_measured() const {
    return stop != Stop::none && stop != Stop::interrupted;
  }
  /// The number of completed steps since the beginning of training, warm-up included.
  [[nodiscard]] std::int64_t global_steps() const {
    return steps_before + warmup_steps + static_cast<std::int64_t>(steps.size());
  }
  /// Images or tokens per second.
  [[nodiscard]] double speed(const Workload& workload) const {
    return static_cast<double>(workload.units_per_step()) * static_cast<double>(steps.size()) /
           std::chrono::duration<double>(wall).count();
  }
};

/// Warms up, then runs and times the steps until the stopping rule ends them. Each step runs on
/// every tower, on the tower's part of the batch, and ends when all towers are done. It reports
/// means over the towers. Prints the lines of tf_cnn_benchmarks from "Running warm up" to the last
/// step line. Also prints the total unless the run was interrupted. Throws LossError for a loss
/// that is not finite; `result` then has the measurements so far.
void run_session(const RunSettings& settings, const SessionParts& parts, SessionResult& result);

}  // namespace bench
