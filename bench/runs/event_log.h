#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "bench/loop/evaluation_metric.h"
#include "bench/loop/session.h"
#include "bench/plan/settings.h"
#include "pipeline/formats/event_writer.h"
#include "results/environment/clock.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {

/// The events of a training run in its --train_dir, for TensorBoard: the tags of tf_cnn_benchmarks.
class EventLog {
 public:
  /// `steps_before`: the completed steps of the run that this one continues. The other arguments
  /// must outlive this. Throws WriteError.
  EventLog(const RunSettings& settings, std::int64_t steps_before, const Clock& clock);
  /// Marks the end of the run.
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// Records the step's values if it is time for it. After a failed write, prints a warning and
  /// records no more.
  void after_step(Towers& towers, const CompletedStep& step);

 private:
  void record(Towers& towers, const CompletedStep& step, double loss_scale);
  void add_gradients(Tower& tower, double loss_scale, EventSummary& summary) const;

  const RunSettings& settings_;
  const Clock& clock_;
  std::optional<EventFile> file_;
  std::int64_t last_step_;
  /// The loss scale with which the next step computes; unset before the first step.
  std::optional<double> loss_scale_;
  std::optional<std::chrono::nanoseconds> last_time_;
};

/// The events of evaluations, in the folder of --eval_dir.
class EvaluationLog {
 public:
  /// Without a folder, it records nothing. Throws WriteError.
  explicit EvaluationLog(const std::optional<std::string>& folder);
  /// Records the accuracy after `step` training steps. Throws WriteError.
  void add(std::int64_t step, const EvaluationScores& scores);

 private:
  std::optional<EventFile> file_;
};

}  // namespace bench
