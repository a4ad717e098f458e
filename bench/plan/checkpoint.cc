#include "bench/plan/checkpoint.h"

#include <algorithm>
#include <charconv>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/record/build_info.h"
#include "variable_mgmt/weights.h"

namespace bench {
namespace {

constexpr const char* kFormat = "bench.checkpoint/1";

/// The flags that a checkpoint fits only with the same values.
std::map<std::string, std::string> required_flags(const RunSettings& settings) {
  const Workload& workload = settings.workload;
  return {{"model", std::string(workload.model->name)},
          {"data_name", std::string(workload.dataset->name)},
          {"optimizer", std::string(row_of(workload.optimizer.rule).name)}};
}

/// The flags that change the numbers of the steps that follow.
std::map<std::string, std::string> other_flags(const RunSettings& settings) {
  const Workload& workload = settings.workload;
  const auto on_or_off = [](bool value) { return value ? "true" : "false"; };
  return {{"batch_size", std::to_string(workload.batch)},
          {"num_gpus", std::to_string(workload.towers)},
          {"variable_update", std::string(workload.strategy->name)},
          {"staged_vars", on_or_off(workload.staged)},
          {"variable_consistency", workload.relaxed ? "relaxed" : "strong"},
          {"dtype", std::string(name_of(workload.dtype))},
          {"device", std::string(name_of(settings.execution.device))},
          {"tf_random_seed", std::to_string(workload.seed)}};
}

std::string key_of(const std::string& flag) { return fmt::format("flag/{}", flag); }

class Metadata {
 public:
  explicit Metadata(const TensorFile& file) : file_(file) {}

  [[nodiscard]] std::string text(const std::string& key) const {
    const auto found = file_.metadata().find(key);
    return found == file_.metadata().end() ? "" : found->second;
  }
  [[nodiscard]] std::int64_t count(const std::string& key) const {
    const std::string value = text(key);
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    // More steps or images than any run has would overflow sums.
    constexpr std::int64_t kMost = std::int64_t{1} << 50;
    if (error != std::errc() || rest != value.data() + value.size() || number < 0 ||
        number > kMost) {
      throw DataError(
          fmt::format("{}: {} is {}, not a count", file_.name(), key, quoted_name(value)));
    }
    return number;
  }

 private:
  const TensorFile& file_;
};

void check_format(const TensorFile& file, const Metadata& metadata) {
  const std::string format = metadata.text("format");
  if (format == kFormat) {
    return;
  }
  if (format.starts_with("bench.checkpoint/")) {
    throw UsageError(fmt::format(
        "{}: the checkpoint has format {}, but this version of bench reads {}: continue with the "
        "version that wrote it ({})",
        file.name(), quoted_name(format), kFormat, quoted_name(metadata.text("bench_version"))));
  }
  throw UsageError(
      fmt::format("{}: --train_dir did not write this file, so training cannot continue from it; "
                  "load its variables with --init_from",
                  file.name()));
}

}  // namespace

std::map<std::string, std::string> checkpoint_metadata(const RunSettings& settings,
                                                       const TrainingProgress& progress) {
  std::map<std::string, std::string> metadata{
      {"format", kFormat},
      {"bench_version", results::source_info().bench_version},
      {"global_step", std::to_string(progress.steps)},
      {"input_epoch", std::to_string(progress.input.epoch)},
      {"input_index", std::to_string(progress.input.index)}};
  for (const auto& flags : {required_flags(settings), other_flags(settings)}) {
    for (const auto& [flag, value] : flags) {
      metadata.emplace(key_of(flag), value);
    }
  }
  return metadata;
}

OpenCheckpoint open_checkpoint(const CheckpointFile& checkpoint, const RunSettings& settings,
                               const Graph& network) {
  OpenCheckpoint open{.file = TensorFile(checkpoint.path), .progress = {}};
  const Metadata metadata(open.file);
  check_format(open.file, metadata);
  for (const auto& [flag, value] : required_flags(settings)) {
    if (const std::string saved = metadata.text(key_of(flag)); saved != value) {
      throw UsageError(
          fmt::format("{}: the checkpoint was written with --{}={}, but this run has {}; use "
                      "another --train_dir, or load the variables alone with --init_from",
                      open.file.name(), flag, printable(saved), value));
    }
  }
  // Compares all names and shapes.
  plan_load(open.file, network, LoadMode::complete);
  for (const auto& [flag, value] : other_flags(settings)) {
    if (const std::string saved = metadata.text(key_of(flag)); saved != value) {
      open.differences.push_back(
          fmt::format("--{} was {} and is {}", flag, printable(saved), value));
    }
  }
  open.progress = {
      .steps = metadata.count("global_step"),
      .input = {.epoch = metadata.count("input_epoch"), .index = metadata.count("input_index")}};
  return open;
}

bool continue_after(const TrainingProgress& progress, RunSettings& settings) {
  std::int64_t& warmup = settings.execution.warmup.num_batches;
  std::int64_t& measured = settings.execution.steps.num_batches;
  const std::int64_t left = warmup + measured - progress.steps;
  if (left <= 0) {
    return false;
  }
  warmup = std::min(warmup, left - 1);
  measured = left - warmup;
  settings.workload.input.start = progress.input;
  return true;
}

}  // namespace bench
