#pragma once

#include <cstdint>
#include <optional>

namespace bench {

struct WarmupOptions {
  std::optional<std::int64_t> num_warmup_batches = {};
  std::optional<std::int64_t> autotune_threshold = {};
  /// Batches of one producer group.
  std::int64_t batch_group_size = 1;
  /// Groups of ops that enqueue batches ahead of the step: 0 where a device prefetches by itself,
  /// else 1, synthetic data included; one more with staged variables.
  std::int64_t enqueue_groups = 1;
};

struct Warmup {
  std::int64_t num_batches;
  /// num_batches is more than asked for, so that groups come out even; the run prints
  /// "Round up warm up steps to %d to match batch_group_size".
  bool rounded_up;
};

/// The steps before measuring: as asked for, else max(10, 5 t^2) with t = autotune_threshold, or 1
/// where that is unset or 0; then rounded up to whole producer groups.
Warmup plan_warmup(const WarmupOptions& options);

struct StepCountOptions {
  std::optional<std::int64_t> num_batches = {};
  std::optional<double> num_epochs = {};
  /// Images of one step over all devices and processes.
  std::int64_t examples_per_step = 1;
  std::int64_t examples_per_epoch = 1;
};

struct StepCount {
  std::int64_t num_batches;
  /// What that makes in passes over the dataset; not rounded.
  double num_epochs;
};

/// The steps to measure: num_batches, or floor(floor(E n + B - 1) / B) for E epochs of n images
/// in batches of B, else 100. Throws UsageError if both are set or no step results.
StepCount plan_steps(const StepCountOptions& options);

}  // namespace bench
