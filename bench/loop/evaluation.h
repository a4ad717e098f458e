#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <vector>

#include "bench/loop/evaluation_metric.h"
#include "bench/loop/report.h"
#include "bench/loop/stopping_rule.h"
#include "bench/plan/settings.h"
#include "pipeline/input.h"
#include "results/environment/clock.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {

struct EvaluationParts {
  /// A forward-only run of the validation subset, as evaluation_settings() returns it.
  const RunSettings& settings;
  /// They have the variables to evaluate.
  Towers& towers;
  /// At its beginning.
  InputSource& input;
  const Clock& clock;
  std::ostream& out;
  /// True if the user ends the run; called between batches and while a batch is not ready.
  std::function<bool()> interrupted;
  /// True if the time of the run is over; called after each batch. May be empty.
  std::function<bool()> out_of_time = {};
};

struct EvaluationResult {
  EvaluationScores scores = {};
  /// The duration of each batch.
  std::vector<std::chrono::nanoseconds> steps;
  /// One for each batch, if the network classifies images.
  std::vector<report::Accuracies> accuracies;
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds input_wait{};
  /// Why the batches ended; Stop::none after a failed one.
  Stop stop = Stop::none;
};

/// Evaluates as many batches as the settings say, in order, and prints the lines of
/// tf_cnn_benchmarks. An evaluation over whole passes ends with the last image of the dataset,
/// which need not fill its batch. Waits. Throws what the input throws, and LossError if numbers are
/// not finite; `result` then has the measurements so far.
void evaluate(const EvaluationParts& parts, EvaluationResult& result);

/// Why an evaluation that was not interrupted has no scores: one sentence.
std::string no_scores(const Model& model);
/// Prints the result, if images count.
void print_scores(std::ostream& out, const EvaluationScores& scores);

}  // namespace bench
