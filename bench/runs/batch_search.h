#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "results/record/record.h"

namespace bench {

/// Measures a batch size; returns nullopt if memory is insufficient.
using MeasureBatch = std::function<std::optional<results::BatchTrial>(std::int64_t batch)>;

/// The result of --batch_size=auto.
struct BatchSearch {
  /// The measurements, in order.
  std::vector<results::BatchTrial> tried = {};
  /// The smallest tried batch whose speed is within the tolerance of the best; 0 without a trial.
  std::int64_t chosen = 0;
};

/// Tries 1, 2, 4 and so on. Stops when two sizes in a row improve by at most `tolerance` over the
/// best before them, or when `measure` returns nullopt. `tolerance` is a fraction of the speed,
/// such as 0.02.
BatchSearch search_batch(const MeasureBatch& measure, double tolerance);

}  // namespace bench
