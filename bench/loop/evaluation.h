#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <vector>

#include "bench/loop/report.h"
#include "bench/plan/settings.h"
#include "pipeline/input.h"
#include "results/environment/clock.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {

/// How many images have their label among the largest logits: fewer than 1 or 5 logits of its row
/// are larger. As in TensorFlow's in_top_k, a row with a logit that is not finite never counts.
struct EvaluationCounts {
  std::int64_t images = 0;
  std::int64_t top_1 = 0;
  std::int64_t top_5 = 0;

  EvaluationCounts& operator+=(const EvaluationCounts& other);
  /// The counts as shares of the images, of which there must be at least one.
  [[nodiscard]] report::Accuracies accuracies() const;
};
/// Counts the rows i for which `counted`[i] is not 0.
EvaluationCounts count_evaluated(std::span<const float> logits,
                                 std::span<const std::int32_t> labels,
                                 std::span<const char> counted);

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
  EvaluationCounts counts = {};
  /// The duration of each batch.
  std::vector<std::chrono::nanoseconds> steps;
  std::vector<report::Accuracies> accuracies;
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds input_wait{};
  bool interrupted = false;
  bool out_of_time = false;
};

/// Evaluates as many batches as the settings say, in order, and prints the lines of
/// tf_cnn_benchmarks. An evaluation over whole passes ends with the last image of the dataset,
/// which need not fill its batch. Waits. Throws what the input throws.
EvaluationResult evaluate(const EvaluationParts& parts);

}  // namespace bench
