#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "models/base/errors.h"
#include "results/formats/imported_record.h"
#include "results/formats/json_text.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"
#include "results/formats/utc_time.h"

/// The logs of tf_cnn_benchmarks in --benchmark_log_dir, written by the logger of TensorFlow's
/// model garden (official/utils/logs/logger.py). benchmark_run.log is one JSON object; metric.log
/// has one per line, and each run appends to it. Keys, their order and the form of the values are
/// the logger's.
namespace bench::results {
namespace {

using Ordered = nlohmann::ordered_json;
using nlohmann::json;

constexpr const char* kTfRunLog = "benchmark_run.log";
constexpr const char* kTfMetricLog = "metric.log";
constexpr const char* kTfLogsName = "tf-logs";

std::string tf_timestamp(double seconds) {
  const std::int64_t ms = std::llround(seconds * 1e3);
  return fmt::format("{}{:03}000Z", utc_by(ms, "%Y-%m-%dT%H:%M:%S."), ms % 1000);
}

Ordered or_null(const std::optional<std::int64_t>& value) {
  return value ? Ordered(*value) : Ordered(nullptr);
}

/// tf_cnn_benchmarks' names of its modes.
std::string tf_mode(const json& record) {
  const std::string mode = text_field(record, "workload.mode");
  if (mode == "train") return "training";
  return mode == "fwd" ? "forward only" : mode == "eval" ? "evaluation" : mode;
}

std::string tf_dataset(const json& record) {
  const std::string name = text_field(record, "dataset.name");
  return text_field(record, "workload.data") == "synthetic" ? name + " (synthetic)" : name;
}

/// The list as Python prints it: ['/gpu:0', '/gpu:1'].
std::string tf_devices(const json& record) {
  const json* gpus = field(record, "gpu");
  const char* kind = gpus != nullptr && !gpus->empty() ? "gpu" : "cpu";
  std::string list;
  for (std::int64_t i = 0; i < integer_field(record, "workload.devices").value_or(0); ++i) {
    if (!list.empty()) list += ", ";
    list += fmt::format("'/{}:{}'", kind, i);
  }
  return "[" + list + "]";
}

/// Records without the printed name, and records of another tool's file, have only one name.
std::string tf_model(const json& record) {
  return text_field(record, "workload.printed_model", text_field(record, "workload.model"));
}

/// NHWC or NCHW, the only values in tf_cnn_benchmarks. For `auto`, the one in which most of the
/// plan is. This counts the images and the results of the steps. Blocks of channels in oneDNN, such
/// as nChw16c, count as NCHW.
std::string tf_data_format(const json& record) {
  const std::string asked = text_field(record, "workload.layout");
  if (asked != "auto") return asked;
  std::int64_t nhwc = 0;
  std::int64_t nchw = 0;
  const auto count = [&](const std::string& layout, std::int64_t times) {
    if (layout == "nhwc") nhwc += times;
    if (layout.starts_with("nchw") || layout.starts_with("nChw")) nchw += times;
  };
  count(text_field(record, "choices.held.images"), 1);
  if (const json* steps = field(record, "implementations"); steps != nullptr && steps->is_array()) {
    for (const json& step : *steps) {
      count(text_field(step, "layout"), integer_field(step, "count").value_or(0));
    }
  }
  if (nhwc + nchw == 0) return asked;
  return nhwc > nchw ? "NHWC" : "NCHW";
}

/// Sorted by name.
Ordered tf_environment(const json& record) {
  Ordered list = Ordered::array();
  const json* variables = field(record, "tensorflow_env");
  if (variables == nullptr || !variables->is_object()) return list;
  for (const auto& [name, value] : variables->items()) {
    list.push_back({{"name", name}, {"value", value}});
  }
  return list;
}

/// The version from the logs, for a record that was imported from them.
std::string tf_version(const json& record) {
  const std::string version = text_field(record, "source.bench_version");
  return version.empty() ? text_field(record, "workload.backend") : "bench " + version;
}

/// Sorted by name, with each value under the name of its type; booleans are texts.
Ordered tf_run_parameters(const json& record) {
  const auto number = [&](const char* name, const char* path) {
    return Ordered{{"name", name}, {"long_value", or_null(integer_field(record, path))}};
  };
  const auto text = [](const char* name, const std::string& value) {
    return Ordered{{"name", name}, {"string_value", value}};
  };
  const auto epochs = number_field(record, "workload.num_epochs");
  return Ordered::array({
      number("batch_size", "workload.global_batch"),
      number("batch_size_per_device", "workload.batch_per_device"),
      text("data_format", tf_data_format(record)),
      text("dataset", tf_dataset(record)),
      text("devices", tf_devices(record)),
      text("mode", tf_mode(record)),
      text("model", tf_model(record)),
      number("num_batches", "workload.num_batches"),
      Ordered{{"name", "num_epochs"},
              {"float_value", epochs ? Ordered(*epochs) : Ordered(nullptr)}},
      text("optimizer", text_field(record, "workload.optimizer")),
      text("rewrite_config", "None"),
      text("session_config", ""),
      Ordered{{"name", "single_sess"}, {"bool_value", "False"}},
  });
}

Ordered tf_machine(const json& record) {
  Ordered cpu = {{"num_cores", or_null(integer_field(record, "cpu.threads"))},
                 {"cpu_info", text_field(record, "cpu.model")}};
  const auto base = number_field(record, "cpu.base_mhz");
  const auto mhz = base ? base : number_field(record, "cpu.max_mhz");
  cpu["mhz_per_cpu"] = mhz ? Ordered(*mhz) : Ordered(nullptr);
  const json* gpus = field(record, "gpu");
  Ordered gpu = {{"count", gpus == nullptr ? 0 : gpus->size()}};
  if (gpus != nullptr && !gpus->empty()) gpu["model"] = text_field(gpus->front(), "name");
  return {{"cpu_info", cpu},
          {"gpu_info", gpu},
          {"memory_total", or_null(integer_field(record, "memory.total"))},
          {"memory_available", or_null(integer_field(record, "memory.available"))}};
}

std::string tf_run_log(const StoredRun& run) {
  const json& record = run.record;
  const json* test_id = field(record, "flags.output.benchmark_test_id");
  const Ordered log = {
      {"model_name", tf_model(record)},
      {"dataset", {{"name", tf_dataset(record)}}},
      {"machine_config", tf_machine(record)},
      {"test_id", test_id == nullptr ? Ordered(nullptr) : Ordered(*test_id)},
      {"run_date", tf_timestamp(static_cast<double>(run.start_ms) / 1e3)},
      {"tensorflow_version", {{"version", tf_version(record)}, {"git_hash", run.git_rev}}},
      {"tensorflow_environment_variables", tf_environment(record)},
      {"run_parameters", tf_run_parameters(record)}};
  return python_json(log) + "\n";
}

std::string tf_metric_line(const char* name, double value, std::int64_t step, double seconds,
                           const char* unit = nullptr) {
  const Ordered line = {{"name", name},
                        {"value", value},
                        {"unit", unit == nullptr ? Ordered(nullptr) : Ordered(unit)},
                        {"global_step", step},
                        {"timestamp", tf_timestamp(seconds)},
                        {"extras", Ordered::array()}};
  return python_json(line) + "\n";
}

/// The accuracy of step number `step`, from 0; empty for a run that computes none.
std::optional<double> tf_accuracy(const json& record, const char* path, std::size_t step) {
  const json* list = field(record, path);
  if (list == nullptr || !list->is_array() || step >= list->size()) return std::nullopt;
  const json& value = (*list)[step];
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// The lines of the printed steps, then the total.
std::string tf_metric_log(const StoredRun& run) {
  const std::vector<double> steps = step_seconds(run.record);
  const std::vector<double> ends = step_ends(run);
  const double batch = number_field(run.record, "workload.global_batch").value_or(0);
  const auto every = static_cast<std::size_t>(std::max<std::int64_t>(
      1, integer_field(run.record, "flags.output.display_every").value_or(10)));
  std::string log;
  double sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    sum += steps[i];
    if (i != 0 && (i + 1) % every != 0) continue;
    const double speed = batch * static_cast<double>(i + 1) / sum;
    const auto number = static_cast<std::int64_t>(i + 1);
    log += tf_metric_line("current_examples_per_sec", speed, number, ends[i]);
    for (const auto& [name, path] : {std::pair{"top_1_accuracy", "series.top_1"},
                                     std::pair{"top_5_accuracy", "series.top_5"}}) {
      if (const auto accuracy = tf_accuracy(run.record, path, i)) {
        log += tf_metric_line(name, *accuracy, number, ends[i]);
      }
    }
  }
  if (const auto speed = speed_of(run)) {
    // A run of the original counts images. Tokens are counted by their examples.
    const bool images = speed_unit(run) == "images";
    const double per_example =
        speed_unit(run) == "tokens" ? units_per_step(run).value_or(0) / batch : 1;
    // A record imported from logs has no steps.
    const std::int64_t count = steps.empty()
                                   ? integer_field(run.record, "workload.num_batches").value_or(0)
                                   : static_cast<std::int64_t>(steps.size());
    if (per_example > 0) {
      log += tf_metric_line("average_examples_per_sec", *speed / per_example, count,
                            static_cast<double>(end_ms(run)) / 1e3, images ? nullptr : "examples");
    }
  }
  return log;
}

/// A single run's logs go into the folder itself. Several runs get a folder each, because the logs
/// do not distinguish them.
Outputs write_tf_logs(std::span<const StoredRun> runs) {
  Outputs outputs;
  for (const StoredRun& run : runs) {
    const std::string folder = runs.size() == 1 ? "" : run.record_id + "/";
    outputs.push_back({.name = folder + kTfRunLog, .contents = tf_run_log(run)});
    outputs.push_back(
        {.name = folder + kTfMetricLog, .contents = tf_metric_log(run), .append = true});
  }
  return outputs;
}

bool is_tf_log(const ForeignFile& source) {
  const std::string name = source.path.filename().string();
  return name == kTfRunLog || name == kTfMetricLog;
}

ForeignFile tf_neighbour(const ForeignFile& source, const char* name) {
  if (source.path.filename() == name) return source;
  const std::filesystem::path path = source.path.parent_path() / name;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    bad_source({.path = path}, fmt::format("is missing; it must be in the folder of {}",
                                           source.path.filename().string()));
  }
  return {.path = path, .text = {std::istreambuf_iterator<char>(file), {}}};
}

/// The value of a run parameter, whatever its type.
json tf_parameter(const json& log, std::string_view name) {
  const json* parameters = field(log, "run_parameters");
  if (parameters == nullptr || !parameters->is_array()) return nullptr;
  for (const json& parameter : *parameters) {
    if (text_field(parameter, "name") != name) continue;
    for (const char* type : {"long_value", "string_value", "float_value", "bool_value"}) {
      if (const json* value = field(parameter, type)) return *value;
    }
  }
  return nullptr;
}

void read_tf_run(const ForeignFile& source, ImportedRecord& record) {
  const json log = parse_json(source);
  needed_member(source, log, "model_name", "the log", json::value_t::string);
  const auto set = [&](const char* to, const char* from) {
    if (const json* value = field(log, from)) record.set(to, *value);
  };
  const auto parameter = [&](const char* to, const char* name) {
    record.set(to, tf_parameter(log, name));
  };
  set("workload.model", "model_name");
  parameter("workload.global_batch", "batch_size");
  parameter("workload.batch_per_device", "batch_size_per_device");
  parameter("workload.num_batches", "num_batches");
  parameter("workload.num_epochs", "num_epochs");
  parameter("workload.layout", "data_format");
  parameter("workload.optimizer", "optimizer");
  const json mode = tf_parameter(log, "mode");
  if (mode.is_string()) {
    record.set("workload.mode", mode_of_tf(mode.get<std::string>()));
  }
  const json batch = tf_parameter(log, "batch_size");
  const json per_device = tf_parameter(log, "batch_size_per_device");
  if (batch.is_number_integer() && per_device.is_number_integer() && per_device > 0) {
    record.set("workload.devices", batch.get<std::int64_t>() / per_device.get<std::int64_t>());
  }
  std::string dataset = text_field(log, "dataset.name");
  if (const std::size_t mark = dataset.find(" (synthetic)"); mark != std::string::npos) {
    dataset.resize(mark);
    record.set("workload.data", "synthetic");
  }
  record.set("dataset.name", dataset);
  set("cpu.model", "machine_config.cpu_info.cpu_info");
  set("cpu.threads", "machine_config.cpu_info.num_cores");
  set("cpu.base_mhz", "machine_config.cpu_info.mhz_per_cpu");
  set("memory.total", "machine_config.memory_total");
  set("memory.available", "machine_config.memory_available");
  set("label", "test_id");
  set("flags.output.benchmark_test_id", "test_id");
  record.set("workload.backend", text_field(log, "tensorflow_version.version"));
  set("source.git_rev", "tensorflow_version.git_hash");
  if (const json* variables = field(log, "tensorflow_environment_variables");
      variables != nullptr && variables->is_array()) {
    json values = json::object();
    for (const json& variable : *variables) {
      if (const std::string name = text_field(variable, "name"); !name.empty()) {
        values[name] = text_field(variable, "value");
      }
    }
    record.set("tensorflow_env", values);
  }
  record.starts(utc_ms(text_field(log, "run_date")));
}

/// If several runs appended to the file, the last one counts, as in benchmark_run.log.
void read_tf_metrics(const ForeignFile& source, ImportedRecord& record) {
  std::istringstream lines(source.text);
  std::map<std::string, double> last;
  std::string speed = "images_per_sec";
  std::string line;
  std::string stamp;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const json entry = parse_json(source, line, number);
    const std::string where = fmt::format("line {}", number);
    const auto name = needed_member(source, entry, "name", where, json::value_t::string);
    last[name.get<std::string>()] = needed_number(source, entry, "value", where);
    stamp = text_field(entry, "timestamp");
    if (name == "average_examples_per_sec") {
      speed = text_field(entry, "unit") == "examples" ? "examples_per_sec" : "images_per_sec";
    }
  }
  for (const auto& [name, value] : last) {
    const std::string ours = name == "average_examples_per_sec" ? speed
                             : name == "top_1_accuracy"         ? "last_top_1_accuracy"
                             : name == "top_5_accuracy"         ? "last_top_5_accuracy"
                                                                : name;
    if (name == "current_examples_per_sec") continue;  // A part of the total.
    record.metric(ours, value);
  }
  if (last.find("average_examples_per_sec") == last.end()) {
    record.failed("metric.log has no average_examples_per_sec, so the run did not complete");
  }
  if (const auto end = utc_ms(stamp)) record.ends(*end);
}

Records read_tf_logs(const ForeignFile& source) {
  // The record is the same whichever of the two files was named, so a store keeps it once.
  const ForeignFile run_log = tf_neighbour(source, kTfRunLog);
  ImportedRecord record(run_log, kTfLogsName);
  read_tf_run(run_log, record);
  read_tf_metrics(tf_neighbour(source, kTfMetricLog), record);
  return {std::move(record).finish()};
}

}  // namespace

Format tf_logs_format() {
  return {.name = kTfLogsName,
          .what = "benchmark_run.log and metric.log of tf_cnn_benchmarks",
          .sniff = is_tf_log,
          .read = read_tf_logs,
          .write = write_tf_logs};
}

}  // namespace bench::results
