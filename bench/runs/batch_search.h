#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "results/record.h"

namespace bench {

/// Measures a batch size; none where the memory ends.
using MeasureBatch = std::function<std::optional<results::BatchTrial>(std::int64_t batch)>;

/// What --batch_size=auto found.
struct BatchSearch {
  /// What was measured, in that order.
  std::vector<results::BatchTrial> tried = {};
  /// The smallest batch tried whose speed is within the tolerance of the best; 0 without a trial.
  std::int64_t chosen = 0;
};

/// Tries 1, 2, 4 and so on, until two sizes in a row bring no more than `tolerance` over the best
/// before them, or until `measure` gives none. `tolerance` is a share of the speed, such as 0.02.
BatchSearch search_batch(const MeasureBatch& measure, double tolerance);

}  // namespace bench
