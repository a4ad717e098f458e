#include "bench/runs/scaling.h"

#include <ostream>

#include "bench/plan/device.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/precision.h"
#include "bench/plan/resolve_settings.h"
#include "bench/report/record_file.h"
#include "bench/report/scaling.h"
#include "bench/runs/output_check.h"
#include "bench/runs/own_files.h"
#include "bench/runs/start_processes.h"
#include "bench/terminal/stderr_lines.h"
#include "bench/terminal/text_table.h"
#include "models/base/errors.h"
#include "models/base/threads.h"
#include "results/environment/decimal.h"

namespace bench {
namespace {

using nlohmann::json;

constexpr double kInPerCent = 100;

std::string metric_text(const results::StoredRun& run, const std::string& name, int digits) {
  const auto found = run.metrics.find(name);
  return found == run.metrics.end() ? "-" : decimal(found->second.value, digits);
}

/// The loss through a part, from the record.
std::string lost_text(const json& scaling, const char* part) {
  const json& share = scaling.at("lost").at(part);
  if (share.is_null()) {
    return "-";
  }
  std::string text = decimal(kInPerCent * share.get<double>(), 1);
  return text == "-0.0" ? "0.0" : text;
}

std::vector<std::string> row_of(const ScaledRun& run) {
  std::vector<std::string> row{fmt::format("{}", run.devices)};
  if (!run.outcome.record) {
    row.insert(row.end(), 8, "-");
    row.push_back(fmt::format("ended with status {}", run.outcome.status));
    return row;
  }
  const results::StoredRun& stored = *run.outcome.record;
  const json& scaling = stored.record.at("scaling");
  row.push_back(metric_text(stored, results::speed_metric(stored), 2));
  row.push_back(decimal(kInPerCent * scaling.at("efficiency").get<double>(), 1));
  for (const char* part : {"input", "computing", "exposed_communication", "updating", "host"}) {
    row.push_back(lost_text(scaling, part));
  }
  constexpr double kMebi = 1U << 20U;
  const auto peak = stored.metrics.find("peak_rss");
  row.push_back(peak == stored.metrics.end() ? "-" : decimal(peak->second.value / kMebi, 0));
  row.emplace_back();
  return row;
}

/// A device is a process, which a launcher starts.
bool is_over_processes(const RunSettings& settings) {
  return settings.workload.strategy->name == "horovod";
}

/// The flags to append to the command line for `devices` devices, of which a host has `per_host` at
/// most. CPU devices have the same number of threads in every run; otherwise the efficiency would
/// measure the threads.
std::vector<std::string> words_of(const RunSettings& settings, int devices, int per_host) {
  std::vector<std::string> words{
      fmt::format("--{}={}", is_over_processes(settings) ? "np" : "num_gpus", devices)};
  if (settings.execution.device == RunDevice::cpu && !settings.execution.threads) {
    words.push_back(fmt::format("--num_intra_threads={}", default_threads(settings, per_host)));
  }
  return words;
}

/// The most devices of a host in any run.
int most_per_host(const std::vector<int>& counts, const Flags& flags) {
  if (!flags.hosts) {
    return counts.back();
  }
  int most = 1;
  for (const HostPlaces& host : parse_hosts(*flags.hosts)) {
    most = std::max(most, host.processes);
  }
  return std::min(most, counts.back());
}

/// Devices for planning only.
class DevicesForAWhile {
 public:
  DevicesForAWhile(const RunSettings& settings, TowerThreads& threads)
      : threads_(threads), devices_(make_devices(settings, threads)) {}
  ~DevicesForAWhile() { drop_backends(devices_, threads_); }
  DevicesForAWhile(const DevicesForAWhile&) = delete;
  DevicesForAWhile& operator=(const DevicesForAWhile&) = delete;
  [[nodiscard]] std::span<const Device> get() const { return devices_; }

 private:
  TowerThreads& threads_;
  std::vector<Device> devices_;
};

/// Throws every error that the run can detect before it starts; returns its planned memory.
PlannedMemory predict_run(RunSettings settings, const RunHost& host) {
  const Workload& workload = settings.workload;
  check_outputs(settings);
  check_kept(settings.outputs);
  const auto host_limit = memory_limit(host.files);
  check_variables_memory(settings, host_limit);
  TowerThreads threads(workload.towers);
  const DevicesForAWhile made(settings, threads);
  const std::span<const Device> devices = made.get();
  Backend& backend = *devices.front().backend;
  choose_precision(workload, backend).apply(settings);
  const MemoryLimits limits = limits_of_run(settings.execution, host_limit, devices);
  const auto need_for = [&](std::int64_t batch) {
    return limits.need_of(plan_run_memory(settings, backend, batch));
  };
  check_images_memory(workload, limits, need_for);
  const PlannedMemory planned = plan_run_memory(settings, backend, workload.batch);
  check_memory(workload, planned, limits, need_for);
  return planned;
}

void refuse_what_is_given_twice(const Workload& workload, const ParseResult& parsed) {
  for (const char* name : {"num_gpus", "virtual_gpus", "np", "gpu_indices", "repeats", "until_ci",
                           "reportable", "verify", "dump", "dump_tensors", "choices_file"}) {
    if (parsed.given.contains(name)) {
      throw UsageError(
          fmt::format("--scaling_sweep makes one run per number of devices: remove --{}", name));
    }
  }
  if (parsed.given.contains("hosts") && workload.strategy->name != "horovod") {
    throw UsageError("--scaling_sweep over --hosts needs --variable_update=horovod");
  }
  if (!workload.batch_request.fixed()) {
    throw UsageError("--scaling_sweep needs one batch size: give a number in --batch_size");
  }
}

}  // namespace

RunSettings settings_of_scaled(RunSettings settings) {
  const std::string mark = fmt::format("devices{}", settings.workload.all_towers());
  return settings.outputs.record.scaling ? with_own_files(std::move(settings), mark) : settings;
}

void print_scaling(std::ostream& out, std::span<const ScaledRun> runs) {
  const auto recorded = std::ranges::find_if(
      runs, [](const ScaledRun& run) { return run.outcome.record.has_value(); });
  TextTable table(
      {{.title = "devices", .right = true},
       {.title = recorded == runs.end() ? "speed" : speed_title(*recorded->outcome.record),
        .right = true},
       {.title = "efficiency %", .right = true},
       {.title = "lost: input", .right = true},
       {.title = "computing", .right = true},
       {.title = "exposed communication", .right = true},
       {.title = "update", .right = true},
       {.title = "host", .right = true},
       {.title = "peak MiB", .right = true},
       {.title = ""}});
  for (const ScaledRun& run : runs) {
    table.add_row(row_of(run));
  }
  out << table << std::flush;
}

int scale(
    std::span<const int> counts,
    const std::function<ChildOutcome(int devices, int order, const std::string& reference)>& run,
    const std::function<bool()>& interrupted, const RunStreams& streams) {
  std::vector<ScaledRun> runs;
  int status = 0;
  std::string reference = kScalingFirst;
  for (std::size_t i = 0; i < counts.size() && !interrupted(); ++i) {
    streams.err << stderr_line::run << i + 1 << " of " << counts.size() << ": " << counts[i]
                << (counts[i] == 1 ? " device" : " devices") << "\n"
                << std::flush;
    runs.push_back(
        {.devices = counts[i], .outcome = run(counts[i], static_cast<int>(i), reference)});
    const ChildOutcome& outcome = runs.back().outcome;
    status = outcome.status != 0 ? outcome.status : status;
    if (i == 0) {
      if (!outcome.record) break;
      reference = to_text(reference_of(*outcome.record));
    }
  }
  print_scaling(streams.out, runs);
  return status;
}

int run_scaling(const RunSettings& settings, const ParseResult& parsed, RunHost& host) {
  refuse_what_is_given_twice(settings.workload, parsed);
  const std::vector<int>& counts = settings.outputs.record.device_counts;
  // Use the settings before each run's flags add --num_gpus and --num_intra_threads, which the user
  // did not give.
  const int per_host = most_per_host(counts, parsed.flags);
  RunSettings largest = settings;
  largest.workload.towers = per_host;
  check_processors(largest);
  const auto arguments_of = [&](int devices) {
    std::vector<std::string> words = host.command_line;
    const std::vector<std::string> own = words_of(settings, devices, per_host);
    words.insert(words.end(), own.begin(), own.end());
    return words;
  };
  std::vector<std::pair<int, PlannedMemory>> planned;
  for (const int devices : counts) {
    std::vector<std::string> words = arguments_of(devices);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    RunSettings own =
        resolve_settings(parse_flags(static_cast<int>(pointers.size()), pointers.data()),
                         {.processes = is_over_processes(settings) ? devices : 1});
    own.outputs.record.scaling.emplace();
    own = settings_of_scaled(std::move(own));
    // Use a separate thread, because it stays bound to processors.
    auto checked = start_async([&] { return predict_run(own, host); });
    planned.emplace_back(devices, checked.get());
  }
  for (const auto& [devices, memory] : planned) {
    host.streams.err << stderr_line::planned_memory << " of " << devices
                     << (devices == 1 ? " device: " : " devices: ") << memory << "\n";
  }
  host.streams.err << std::flush;
  ChildRuns children(host);
  const int status = scale(
      counts,
      [&](int devices, int order, const std::string& reference) {
        return children.run({.place = {.repeat = order, .order = order},
                             .words = words_of(settings, devices, per_host),
                             .variables = {{kScalingVariable, reference}}});
      },
      [&] { return host.interrupt.requested(); }, host.streams);
  host.streams.err << stderr_line::group << children.group() << "\n";
  return host.interrupt.requested() ? host.interrupt.exit_status() : status;
}

}  // namespace bench
