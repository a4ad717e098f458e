#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

/// Reads the settings from the flags.
EvaluationSettings read_evaluation(const Flags& flags, const Dataset& dataset);

/// The file whose variables --eval evaluates. Throws UsageError if the folder has no
/// checkpoint.
std::string checkpoint_to_evaluate(const Flags& flags);

/// The settings of the evaluations during a training run, as for a separate run: forward
/// only, on the validation subset.
RunSettings evaluation_settings(const RunSettings& training);

/// The whole passes over the validation set that an evaluation with these settings makes; 0: it
/// makes as many batches as the settings say, as on synthetic data or with a repeated sample.
std::int64_t evaluated_passes(const RunSettings& settings);

/// When a training run evaluates. Steps count from the first measured step of the training, also if
/// the run continues another.
class EvaluationTimes {
 public:
  /// `epochs` are the passes over the training set that the run makes in total.
  EvaluationTimes(const EvaluationSettings& settings, const StepCountOptions& training,
                  double epochs);

  /// True if the run evaluates after `measured` steps, unless they are its last ones.
  [[nodiscard]] bool include(std::int64_t measured) const;

 private:
  [[nodiscard]] std::int64_t step_of(double epoch) const;
  /// True if a multiple of every_epochs_ ends with this step.
  [[nodiscard]] bool ends_period(std::int64_t step) const;

  std::int64_t every_steps_;
  double every_epochs_;
  double epochs_;
  StepCountOptions training_;
  /// Sorted.
  std::vector<std::int64_t> steps_;
};

}  // namespace bench
