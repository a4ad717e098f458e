#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace bench::results {

/// An evaluation: one during a training run, or that of --eval.
struct Evaluation {
  std::int64_t step = 0;    ///< Completed steps of the training, warm-up included.
  std::int64_t images = 0;  ///< Evaluated.
  /// Shares of these; unset if the network does not classify images.
  std::optional<double> top_1{};
  std::optional<double> top_5{};
  /// What else was computed, by name.
  std::map<std::string, double> scores{};
  double seconds_since_start = 0;  ///< From the first step of this run to the evaluation.
  double seconds = 0;              ///< Its duration; during training it is not part of images/sec.
};

/// The checkpoints of a training run with --train_dir.
struct Checkpoints {
  /// The completed steps of the run that this one continues, warm-up included; null for a new run.
  std::optional<std::int64_t> continued_after{};
  std::int64_t written = 0;  ///< By this run.
  double seconds = 0;        ///< Time to write them, which is not part of images/sec.
};

}  // namespace bench::results
