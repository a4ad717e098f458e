#include "bench/plan/schedule.h"

#include <algorithm>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::int64_t kDefaultNumBatches = 100;
constexpr std::int64_t kLeastWarmup = 10;
constexpr std::int64_t kWarmupPerSquaredTrial = 5;

std::int64_t whole_batches(double num_epochs, const StepCountOptions& options) {
  const double images = num_epochs * static_cast<double>(options.examples_per_epoch) +
                        static_cast<double>(options.examples_per_step) - 1;
  if (!(images < 9e18)) {
    throw UsageError(fmt::format("--{}={:g}: the number of steps is too large to count",
                                 options.epochs_flag, num_epochs));
  }
  const std::int64_t num_batches = static_cast<std::int64_t>(images) / options.examples_per_step;
  if (num_batches < 1) {
    throw UsageError(fmt::format("--{}={:g}: less than one example; an epoch has {} examples",
                                 options.epochs_flag, num_epochs, options.examples_per_epoch));
  }
  return num_batches;
}

}  // namespace

Warmup plan_warmup(const WarmupOptions& options) {
  check(options.batch_group_size >= 1 && options.enqueue_groups >= 0,
        "the producer groups are invalid");
  const std::int64_t trials = std::max<std::int64_t>(options.autotune_threshold.value_or(1), 1);
  const std::int64_t asked = options.num_warmup_batches.value_or(
      std::max(kLeastWarmup, kWarmupPerSquaredTrial * trials * trials));
  // At the last warm-up step, the producer is ahead by all enqueue groups but one.
  const std::int64_t ahead = options.enqueue_groups - 1;
  const std::int64_t group = options.batch_group_size;
  const std::int64_t over = ((asked + ahead) % group + group) % group;
  const std::int64_t rounded = over == 0 ? asked : asked + group - over;
  return {.num_batches = rounded, .rounded_up = rounded != asked};
}

StepCount plan_steps(const StepCountOptions& options) {
  check(options.examples_per_step > 0 && options.examples_per_epoch > 0,
        "step counts need a batch and a dataset");
  if (options.num_batches && options.num_epochs) {
    throw UsageError("--num_batches and --num_epochs are mutually exclusive; give only one");
  }
  const std::int64_t num_batches = options.num_epochs
                                       ? whole_batches(*options.num_epochs, options)
                                       : options.num_batches.value_or(kDefaultNumBatches);
  return {.num_batches = num_batches,
          .num_epochs = static_cast<double>(num_batches) *
                        static_cast<double>(options.examples_per_step) /
                        static_cast<double>(options.examples_per_epoch)};
}

}  // namespace bench
