#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/loop/evaluation.h"
#include "bench/loop/session.h"
#include "bench/plan/device.h"
#include "bench/plan/evaluation_settings.h"
#include "bench/runs/event_log.h"
#include "bench/runs/run_host.h"
#include "results/record/record.h"

namespace bench {

/// The record of an evaluation after that many training steps, without its times.
results::Evaluation recorded(const EvaluationScores& scores, std::int64_t step);

/// Evaluates a network between the steps of its training: on the same devices, with a separate
/// network that has the same variables. The training computes the same numbers as without it.
class Evaluator {
 public:
  /// All arguments must outlive this.
  Evaluator(const RunSettings& training, std::span<Device> devices, RunHost& host);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// Call it after a step if another one follows. Evaluates if it is time for it. Returns false if
  /// the accuracy that ends the training is reached.
  bool between_steps(Towers& training, const CompletedStep& step);
  /// Call it after the last step. Evaluates a last time, unless the training ended at an accuracy.
  void finish(Towers& training, std::int64_t steps);

  [[nodiscard]] const std::vector<results::Evaluation>& evaluations() const { return done_; }
  /// The accuracy that ended the training, if one did.
  [[nodiscard]] const std::optional<double>& reached() const { return reached_; }

 private:
  /// Returns nullopt if the user ended it.
  std::optional<double> evaluate_now(Towers& training, std::int64_t steps, bool last);
  void make_towers(const InitialValues& values);
  /// Reports when the last evaluation found this accuracy.
  void note_time_to(double accuracy) const;

  const RunSettings& training_;
  std::span<Device> devices_;
  RunHost& host_;
  RunSettings settings_;
  EvaluationTimes times_;
  std::chrono::nanoseconds begun_;
  /// Made for the first evaluation.
  std::unique_ptr<Towers> towers_;
  EvaluationLog log_;
  std::vector<results::Evaluation> done_;
  std::optional<double> reached_;
};

}  // namespace bench
