#pragma once

#include <optional>
#include <span>
#include <vector>

#include "results/stats/bootstrap.h"
#include "results/stats/interval.h"

namespace bench::results::stats {

/// Runs of one model on two systems, as logarithms of a rate.
struct ModelRuns {
  std::vector<double> reference{};
  std::vector<double> other{};
  double weight = 1;
};

struct GeometricMean {
  double log_ratio = 0;                ///< Weighted mean of the models' differences of medians.
  std::optional<Interval> interval{};  ///< Empty if some model has fewer than three runs.
};

/// The geometric mean of the models' ratios, with a bootstrap interval over the runs. The models
/// are fixed, so the interval does not cover other models. Throws InternalError without models, or
/// for a side without runs.
GeometricMean geometric_mean(std::span<const ModelRuns> models, const BootstrapOptions& options);

}  // namespace bench::results::stats
