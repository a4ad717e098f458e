#include "bench/plan/evaluation_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "variable_mgmt/checkpoint/checkpoint_folder.h"

namespace bench {
namespace {

template <class T>
std::vector<T> numbers_of(const std::vector<std::string>& texts) {
  std::vector<T> numbers;
  for (const std::string& text : texts) {
    std::from_chars(text.data(), text.data() + text.size(), numbers.emplace_back());
  }
  return numbers;
}

}  // namespace

EvaluationSettings read_evaluation(const Flags& flags, const Dataset& dataset) {
  const bool own_length = flags.num_eval_batches || flags.num_eval_epochs;
  EvaluationSettings evaluation{
      .batch = flags.eval_batch_size == 0 ? std::nullopt : std::optional(flags.eval_batch_size),
      .step_request = {.num_batches = own_length ? flags.num_eval_batches : flags.num_batches,
                       .num_epochs = own_length ? flags.num_eval_epochs : flags.num_epochs,
                       .examples_per_epoch = dataset.examples(/*training=*/false),
                       .epochs_flag = own_length ? "num_eval_epochs" : "num_epochs"},
      .every_steps = flags.eval_during_training_every_n_steps,
      .every_epochs = flags.eval_during_training_every_n_epochs,
      .at_steps = numbers_of<std::int64_t>(flags.eval_during_training_at_specified_steps),
      .at_epochs = numbers_of<double>(flags.eval_during_training_at_specified_epochs),
      .stop_at_top_1 = flags.stop_at_top_1_accuracy,
      .events = flags.eval_dir,
      .interval_seconds =
          flags.eval && flags.train_dir ? std::max<std::int64_t>(flags.eval_interval_secs, 0) : 0};
  const std::optional<double>& epochs = evaluation.step_request.num_epochs;
  constexpr double kMostPasses = 1e9;
  if (epochs && *epochs == std::floor(*epochs) && *epochs < kMostPasses) {
    evaluation.passes = static_cast<std::int64_t>(*epochs);
  }
  return evaluation;
}

std::string checkpoint_to_evaluate(const Flags& flags) {
  if (flags.init_from) {
    return *flags.init_from;
  }
  const auto checkpoints = find_checkpoints(*flags.train_dir);
  if (checkpoints.empty()) {
    throw UsageError(
        fmt::format("--train_dir={}: the folder has no checkpoints", printable(*flags.train_dir)));
  }
  return checkpoints.back().path;
}

RunSettings evaluation_settings(const RunSettings& training) {
  RunSettings settings = training;
  Workload& workload = settings.workload;
  workload.mode = RunMode::evaluation;
  workload.freeze = false;  // The variables are those of the training.
  workload.input.start = {};
  workload.init_from = {};
  workload.print_training_accuracy = false;
  if (workload.input.dataset) {
    workload.input.dataset->training = false;
    workload.input.record_bytes =
        record_memory(*workload.dataset, *workload.input.dataset, workload.processes > 1);
  }
  Execution& execution = settings.execution;
  execution.choices = nullptr;
  execution.choices_file = {};
  execution.autotune = Autotune::off;
  execution.warmup = {.num_batches = 0, .rounded_up = false};
  execution.step_request = training.evaluation.step_request;
  settings.outputs.checkpoints = {};
  return with_batch(settings, training.evaluation.batch.value_or(workload.batch));
}

std::int64_t evaluated_passes(const RunSettings& settings) {
  const auto& dataset = settings.workload.input.dataset;
  return dataset && !dataset->repeat_cached_sample ? settings.evaluation.passes : 0;
}

EvaluationTimes::EvaluationTimes(const EvaluationSettings& settings,
                                 const StepCountOptions& training, double epochs)
    : every_steps_(settings.every_steps.value_or(0)),
      every_epochs_(settings.every_epochs.value_or(0)),
      epochs_(epochs),
      training_(training),
      steps_(settings.at_steps) {
  for (const double epoch : settings.at_epochs) {
    steps_.push_back(step_of(epoch));
  }
  std::ranges::sort(steps_);
}

std::int64_t EvaluationTimes::step_of(double epoch) const {
  // tf_cnn_benchmarks computes the same.
  const double images = std::floor(epoch * static_cast<double>(training_.examples_per_epoch) +
                                   static_cast<double>(training_.examples_per_step - 1));
  constexpr double kMostImages = 1e18;  // more than any run has
  return static_cast<std::int64_t>(std::min(images, kMostImages)) / training_.examples_per_step;
}

bool EvaluationTimes::ends_period(std::int64_t step) const {
  if (every_epochs_ <= 0) {
    return false;
  }
  const double images =
      static_cast<double>(step) * static_cast<double>(training_.examples_per_step);
  const double periods =
      std::floor(images / (every_epochs_ * static_cast<double>(training_.examples_per_epoch)));
  // The quotient may be rounded to the next whole number.
  for (const double period : {periods - 1, periods, periods + 1}) {
    const double epoch = period * every_epochs_;
    if (period >= 1 && epoch < epochs_ && step_of(epoch) == step) {
      return true;
    }
  }
  return false;
}

bool EvaluationTimes::include(std::int64_t measured) const {
  return measured > 0 && ((every_steps_ > 0 && measured % every_steps_ == 0) ||
                          ends_period(measured) || std::ranges::binary_search(steps_, measured));
}

}  // namespace bench
