#include "bench/plan/checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "models/base/crc32c.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/record/build_info.h"
#include "variable_mgmt/weights.h"

namespace bench {
namespace {

constexpr const char* kFormat = "bench.checkpoint/1";

/// A checkpoint fits only runs in which these flags have the same values.
constexpr std::array kRequired{"model",     "data_name",   "data",
                               "optimizer", "num_classes", "image_size"};

/// Workload flags that change no numbers of training steps.
constexpr std::array kIrrelevant{"backbone_model_path",
                                 "init_from",
                                 "init_from_partial",
                                 "loss_type_to_report",
                                 "print_training_accuracy",
                                 "num_eval_batches",
                                 "num_eval_epochs",
                                 "eval_batch_size",
                                 "eval_interval_secs",
                                 "eval_during_training_every_n_steps",
                                 "eval_during_training_every_n_epochs",
                                 "eval_during_training_at_specified_steps",
                                 "eval_during_training_at_specified_epochs",
                                 "stop_at_top_1_accuracy"};

constexpr std::string_view kFlagPrefix = "flag/";
constexpr const char* kSum = "crc32c";
constexpr const char* kHalf = "16 bits";
constexpr const char* kComputedIn = "computed_in";

std::string key_of(const std::string& flag) { return fmt::format("{}{}", kFlagPrefix, flag); }

std::string text_of(const results::FlagValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return "unset";
        } else if constexpr (std::is_same_v<Held, std::string>) {
          return held.empty() ? "empty" : held;
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

/// True if one of the types is that of --use_fp16, which is chosen later, and the other fits it.
bool are_one_half(const std::string& a, const std::string& b) {
  const auto is_half = [](const std::string& type) {
    return type == kHalf || type == "bf16" || type == "f16";
  };
  return (a == kHalf || b == kHalf) && is_half(a) && is_half(b);
}

/// The checksum of all tensors and of everything else that the file says.
class Checksum {
 public:
  void add(const std::string& name, std::span<const std::byte> bytes) {
    text_ += fmt::format("{}={:08x}\n", name,
                         crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  template <class Metadata>
  [[nodiscard]] std::string of_all(const Metadata& metadata) const {
    std::string text = text_;
    for (const auto& [key, value] : metadata) {
      text += key == kSum ? "" : fmt::format("{}={}\n", key, value);
    }
    return fmt::format("{:08x}", crc32c(text));
  }

 private:
  std::string text_;
};

/// Throws DataError if the file's checksum is not that of its contents.
void check_sum(const TensorFile& file) {
  Checksum sum;
  for (const auto& [name, tensor] : file.tensors()) {
    const auto elements = static_cast<std::size_t>(tensor.elements());
    if (tensor.type == StoredType::f64) {
      std::vector<double> values(elements);
      file.read(tensor, 0, std::span(values));
      sum.add(name, std::as_bytes(std::span(values)));
    } else if (tensor.type == StoredType::f32) {
      std::vector<float> values(elements);
      file.read(tensor, 0, std::span(values));
      sum.add(name, std::as_bytes(std::span(values)));
    }
  }
  const auto stored = file.metadata().find(kSum);
  if (stored == file.metadata().end() || stored->second != sum.of_all(file.metadata())) {
    throw DataError(
        fmt::format("{}: the checkpoint is damaged: its checksum does not match", file.name()));
  }
}

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

NumberFlags number_flags(const RunSettings& settings, const results::RunFlags& flags) {
  const Workload& workload = settings.workload;
  NumberFlags numbers{
      {"model", std::string(workload.model->name)},
      {"data_name", std::string(workload.dataset->name)},
      {"optimizer", std::string(row_of(workload.optimizer.rule).name)},
      {"num_classes", std::to_string(workload.num_classes)},
      {"image_size", std::to_string(workload.image_size)},
      {"data", workload.input.dataset ? "the dataset"
               : workload.input.file  ? "--input_file"
                                      : fmt::format("synthetic {}", workload.model->unit().name)},
      {"batch_size", std::to_string(workload.batch)},
      {"num_gpus", std::to_string(workload.towers)},
      {"np", std::to_string(workload.processes)},
      {"variable_update", std::string(workload.strategy->name)},
      {"dtype", workload.choose_half ? kHalf : std::string(name_of(workload.dtype))},
      {"device", std::string(name_of(settings.execution.device))},
      {"tf_random_seed", std::to_string(workload.seed)}};
  for (const auto& [name, value] : flags.workload) {
    if (std::ranges::find(kIrrelevant, name) == kIrrelevant.end()) {
      numbers.emplace(name, text_of(value));
    }
  }
  if (workload.input.dataset) {
    numbers.emplace("data_dir", workload.input.dataset->data_dir);
  }
  if (settings.execution.device == RunDevice::cpu) {
    const auto threads = settings.execution.threads;
    numbers.emplace("num_intra_threads", threads ? std::to_string(*threads) : "unset");
  }
  return numbers;
}

void write_checkpoint(const CheckpointFolder& folder, const NumberFlags& flags,
                      const TrainingProgress& progress, const RunState& state) {
  std::map<std::string, std::string> metadata = state.metadata;
  metadata.insert({{"format", kFormat},
                   {"bench_version", results::source_info().bench_version},
                   {"global_step", std::to_string(progress.steps)},
                   {"warmup_steps", std::to_string(progress.warmup)},
                   {"input_epoch", std::to_string(progress.input.epoch)},
                   {"input_index", std::to_string(progress.input.index)}});
  if (progress.half) {
    metadata.emplace(kComputedIn, name_of(*progress.half));
  }
  if (progress.reached_top_1) {
    metadata.emplace("reached_top_1", fmt::format("{}", *progress.reached_top_1));
  }
  for (const auto& [flag, value] : flags) {
    metadata.emplace(key_of(flag), value);
  }
  Checksum sum;
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, tensor] : state.tensors) {
    sum.add(name, tensor.bytes);
    tensors.push_back({.name = name,
                       .type = tensor.type,
                       .shape = tensor.shape,
                       .data = std::span(tensor.bytes)});
  }
  metadata.emplace(kSum, sum.of_all(metadata));
  folder.write(progress.steps, tensors, metadata);
}

std::string choices_key(int process) { return fmt::format("choices/{}", process); }

OpenCheckpoint open_checkpoint(TensorFile file, std::int64_t step, const NumberFlags& flags,
                               const Graph& network) {
  OpenCheckpoint open;
  const Metadata metadata(file);
  check_format(file, metadata);
  check_sum(file);
  for (const std::string flag : kRequired) {
    const std::string& value = flags.at(flag);
    const std::string saved = metadata.text(key_of(flag));
    if (saved == value) {
      continue;
    }
    const std::string remedy =
        "use another --train_dir, or load the variables alone with --init_from";
    throw UsageError(
        flag == "data"
            ? fmt::format("{}: the training used {}, but this run has {}; {}", file.name(),
                          printable(saved), value, remedy)
            : fmt::format("{}: the checkpoint was written with --{}={}, but this run has {}; {}",
                          file.name(), flag, printable(saved), value, remedy));
  }
  // Compares all names and shapes.
  plan_load(file, network, LoadMode::complete);
  for (const auto& [flag, value] : flags) {
    const std::string saved = metadata.text(key_of(flag));
    if (saved != value && !are_one_half(saved, value)) {
      open.differences.push_back(fmt::format("--{} was {} and is {}", flag,
                                             saved.empty() ? "unset" : printable(saved), value));
    }
  }
  open.progress = {
      .steps = metadata.count("global_step"),
      .warmup = metadata.count("warmup_steps"),
      .input = {.epoch = metadata.count("input_epoch"), .index = metadata.count("input_index")}};
  if (const std::string reached = metadata.text("reached_top_1"); !reached.empty()) {
    open.progress.reached_top_1 = std::strtod(reached.c_str(), nullptr);
  }
  const std::string computed_in = metadata.text(kComputedIn);
  for (const DType half : {DType::bf16, DType::f16}) {
    if (computed_in == name_of(half)) {
      open.progress.half = half;
    }
  }
  if (open.progress.steps != step) {
    throw DataError(
        fmt::format("{}: the file was renamed: it has {} steps", file.name(), open.progress.steps));
  }
  open.file.emplace(std::move(file));
  return open;
}

void check_source(const TensorFile& file, std::string_view model, bool any_model) {
  const Metadata metadata(file);
  if (metadata.text("format") != kFormat) {
    return;
  }
  const std::string saved = metadata.text(key_of("model"));
  if (saved != model && !any_model) {
    throw UsageError(fmt::format("{}: the checkpoint was written with --model={}, not {}",
                                 file.name(), printable(saved), model));
  }
  check_sum(file);
}

bool continue_after(TrainingProgress& progress, RunSettings& settings) {
  std::int64_t& warmup = settings.execution.warmup.num_batches;
  std::int64_t& measured = settings.execution.steps.num_batches;
  const std::optional<double>& stop_at = settings.evaluation.stop_at_top_1;
  const bool reached = stop_at && progress.reached_top_1 && *progress.reached_top_1 >= *stop_at;
  // An incomplete warm-up has the length of this run's flags.
  if (progress.steps <= progress.warmup) {
    progress.warmup = warmup;
  }
  const std::int64_t left = progress.warmup + measured - progress.steps;
  if (left <= 0 || reached) {
    return false;
  }
  warmup = std::min(warmup, left - 1);
  measured = left - warmup;
  settings.workload.input.start = progress.input;
  if (progress.half) {
    settings.workload.earlier_half = {.dtype = *progress.half,
                                      .source = EarlierHalf::Source::checkpoint};
  }
  return true;
}

}  // namespace bench
