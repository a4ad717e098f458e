#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "models/base/errors.h"
#include "results/formats/imported_record.h"
#include "results/formats/json_text.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"
#include "results/formats/utc_time.h"

/// The JSON of google/benchmark: `context`, and `benchmarks` with one entry per repetition, which
/// is a run here. Its members have fixed names; every other number of an entry is a counter.
namespace bench::results {
namespace {

using Ordered = nlohmann::ordered_json;
using nlohmann::json;

constexpr const char* kGoogleName = "google-benchmark";
/// Precedes the workload in the name of an entry.
constexpr const char* kGooglePrefix = "bench/";

constexpr std::array kGoogleOwn = {"family_index", "per_family_instance_index",
                                   "repetitions",  "repetition_index",
                                   "threads",      "iterations",
                                   "real_time",    "cpu_time"};

double google_unit_seconds(const std::string& unit) {
  return unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit == "ns" ? 1e-9 : 0;
}

/// Omits what the record does not know, because readers of this format treat any number there as
/// measured.
Ordered google_context(const StoredRun& run) {
  const json& record = run.record;
  Ordered load = Ordered::array();
  for (const char* name : {"loadavg_1m", "loadavg_5m", "loadavg_15m"}) {
    if (const auto value = number_field(record, fmt::format("load.before.{}", name))) {
      load.push_back(*value);
    }
  }
  Ordered context = {{"date", utc_by(run.start_ms, "%Y-%m-%dT%H:%M:%S+00:00")},
                     {"host_name", text_field(record, "host.hostname")},
                     {"executable", "bench"}};
  if (const auto threads = integer_field(record, "cpu.threads")) context["num_cpus"] = *threads;
  for (const char* path : {"cpu.base_mhz", "cpu.max_mhz"}) {
    const auto mhz = number_field(record, path);
    if (mhz && !context.contains("mhz_per_cpu")) context["mhz_per_cpu"] = *mhz;
  }
  if (const std::string governor = text_field(record, "cpu.governor"); !governor.empty()) {
    context["cpu_scaling_enabled"] = governor != "performance";
  }
  context["caches"] = Ordered::array();
  context["load_avg"] = load;
  context["library_build_type"] =
      text_field(record, "build.build_type") == "Debug" ? "debug" : "release";
  return context;
}

/// The number of timed steps. A run may end before the requested number.
std::optional<std::int64_t> google_iterations(const StoredRun& run) {
  const auto steps = metric_value(run, "step_time.n");
  if (!steps) return std::nullopt;
  return static_cast<std::int64_t>(*steps);
}

/// The context is that of the first run, because the format has only one.
Outputs write_google(std::span<const StoredRun> runs) {
  std::map<std::string, std::size_t> repetitions;
  std::map<std::string, std::size_t> families;
  for (const StoredRun& run : runs) {
    ++repetitions[run.workload_key];
    families.emplace(run.workload_key, families.size());
  }
  std::map<std::string, std::size_t> next;
  Ordered list = Ordered::array();
  for (const StoredRun& run : runs) {
    const std::string name = kGooglePrefix + word_of(run.workload);
    const double mean = metric_value(run, "step_time.mean").value_or(0) * 1e3;
    Ordered entry = {{"name", name},
                     {"family_index", families[run.workload_key]},
                     {"per_family_instance_index", 0},
                     {"run_name", name},
                     {"run_type", "iteration"},
                     {"repetitions", repetitions[run.workload_key]},
                     {"repetition_index", next[run.workload_key]++},
                     {"threads", 1}};
    if (const auto steps = google_iterations(run)) entry["iterations"] = *steps;
    entry.update(
        {{"real_time", mean}, {"cpu_time", mean}, {"time_unit", "ms"}, {"label", run.machine}});
    for (const auto& [metric, value] : run.metrics) entry[metric] = value.value;
    list.push_back(entry);
  }
  const Ordered root = {
      {"context", runs.empty() ? Ordered::object() : google_context(runs.front())},
      {"benchmarks", list}};
  return {{.name = "google_benchmark.json",
           .contents = root.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n"}};
}

bool is_google(const ForeignFile& source) {
  return source.text.find("\"context\"") != std::string::npos &&
         source.text.find("\"benchmarks\"") != std::string::npos;
}

bool is_own_member(const std::string& name) {
  return std::any_of(kGoogleOwn.begin(), kGoogleOwn.end(),
                     [&](const char* own) { return name == own; });
}

/// Entries that bench wrote have no processor time.
void read_google_times(const ForeignFile& source, const json& entry, const std::string& where,
                       bool from_bench, ImportedRecord& record) {
  const std::string unit = text_field(entry, "time_unit", "ns");
  const double seconds = google_unit_seconds(unit);
  if (seconds == 0) {
    bad_source(source,
               fmt::format("{} has the unknown time_unit '{}'; accepted are s, ms, us and ns",
                           where, unit));
  }
  if (from_bench) return;
  record.metric("real_time", needed_number(source, entry, "real_time", where) * seconds);
  record.metric("cpu_time", needed_number(source, entry, "cpu_time", where) * seconds);
}

json read_google_entry(const ForeignFile& source, const json& root, const json& entry,
                       const std::string& where) {
  const json* context = field(root, "context");
  ImportedRecord record(source, kGoogleName);
  const auto name = needed_member(source, entry, "name", where, json::value_t::string);
  const bool from_bench = text_field(*context, "executable") == "bench";
  record.set("workload.model",
             without_prefix(text_field(entry, "run_name", name.get<std::string>()),
                            from_bench ? kGooglePrefix : ""));
  record.starts(utc_ms(text_field(*context, "date")));
  record.set("host.hostname", text_field(*context, "host_name"));
  record.set("cpu.threads", context->value("num_cpus", 0));
  record.set("cpu.base_mhz", number_field(*context, "mhz_per_cpu").value_or(0));
  record.set("build.build_type", text_field(*context, "library_build_type"));
  if (const auto threads = integer_field(entry, "threads"))
    record.tag("threads", std::to_string(*threads));
  if (const auto repetition = integer_field(entry, "repetition_index")) {
    record.set("repeat_index", *repetition);
  }
  record.tag("label", text_field(entry, "label"));
  if (entry.value("error_occurred", false)) {
    record.failed(text_field(entry, "error_message", "the benchmark failed"));
    return std::move(record).finish();
  }
  read_google_times(source, entry, where, from_bench, record);
  for (const auto& [member, value] : entry.items()) {
    if (value.is_number() && !is_own_member(member)) record.metric(member, value.get<double>());
  }
  return std::move(record).finish();
}

Records read_google(const ForeignFile& source) {
  const json root = parse_json(source);
  needed_member(source, root, "context", "the file", json::value_t::object);
  const json& list = needed_member(source, root, "benchmarks", "the file", json::value_t::array);
  Records records;
  std::size_t index = 0;
  for (const json& entry : list) {
    const std::string where = fmt::format("benchmarks[{}]", index++);
    if (!entry.is_object()) bad_source(source, fmt::format("{} is not an object", where));
    if (text_field(entry, "run_type", "iteration") != "iteration") continue;  // A mean of others.
    records.push_back(read_google_entry(source, root, entry, where));
  }
  if (records.empty()) {
    bad_source(source, "'benchmarks' contains no runs: it is empty or has only aggregates");
  }
  return records;
}

}  // namespace

Format google_benchmark_format() {
  return {.name = kGoogleName,
          .what = "the JSON of google/benchmark",
          .sniff = is_google,
          .read = read_google,
          .write = write_google,
          .holds_failures = false};
}

}  // namespace bench::results
