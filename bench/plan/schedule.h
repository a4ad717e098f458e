#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bench {

struct WarmupOptions {
  std::optional<std::int64_t> num_warmup_batches = {};
  std::optional<std::int64_t> autotune_threshold = {};
  /// The number of batches in one producer group.
  std::int64_t batch_group_size = 1;
  /// The number of op groups that enqueue batches ahead of the step. It is 0 if a device prefetches
  /// by itself, else 1, also for synthetic data; staged variables add one.
  std::int64_t enqueue_groups = 1;
};

struct Warmup {
  std::int64_t num_batches;
  /// num_batches exceeds the request so that groups are whole; the run prints "Round up warm up
  /// steps to %d to match batch_group_size".
  bool rounded_up;
};

/// The steps before measuring: the requested number, else max(10, 5 t^2) with t =
/// autotune_threshold. It is 1 if autotune_threshold is unset or 0. The result is rounded up to
/// whole producer groups.
Warmup plan_warmup(const WarmupOptions& options);

struct StepCountOptions {
  std::optional<std::int64_t> num_batches = {};
  std::optional<double> num_epochs = {};
  /// The images of one step over all devices and processes.
  std::int64_t examples_per_step = 1;
  std::int64_t examples_per_epoch = 1;
  /// The flag of `num_epochs`, for errors.
  std::string_view epochs_flag = "num_epochs";
};

struct StepCount {
  std::int64_t num_batches;
  /// The resulting number of passes over the dataset, not rounded.
  double num_epochs;
};

/// The number of measured steps: num_batches, or floor(floor(E n + B - 1) / B) for E epochs of n
/// images in batches of B, else 100. Throws UsageError if both are set or the result is 0.
StepCount plan_steps(const StepCountOptions& options);

}  // namespace bench
