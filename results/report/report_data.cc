#include "results/report/report_data.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/formats/record_view.h"
#include "results/record/statistics.h"
#include "results/report/system_names.h"
#include "results/report/workload_words.h"
#include "results/stats/mann_whitney.h"
#include "results/store/record_fields.h"
#include "results/store/workload_names.h"

namespace bench::results {
namespace {

constexpr double kAlpha = 0.05;

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values) out.push_back(std::log(value));
  return out;
}

std::optional<double> median_field(const std::vector<const StoredRun*>& runs, const char* metric) {
  std::vector<double> values;
  for (const StoredRun* run : runs) {
    if (const auto value = metric_value(*run, metric)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return median(values);
}

/// From the metric, which counts boards. Records without one, such as those of other tools, may
/// have the machine's counters over the timed steps.
std::optional<double> units_per_joule(const StoredRun& run) {
  if (const auto joules = metric_value(run, energy_metric(run)); joules && *joules > 0) {
    return 1 / *joules;
  }
  const auto* errors = field(run.record, "capture_errors");
  if (errors != nullptr && errors->contains(fmt::format("metrics.{}.value", energy_metric(run)))) {
    return std::nullopt;  // The counters include something else.
  }
  const auto joules = number_field(run.record, "energy.joules");
  const auto units = units_per_step(run);
  const auto steps = static_cast<double>(step_seconds(run.record).size());
  if (!joules || !units || *joules <= 0 || steps == 0) return std::nullopt;
  return *units * steps / *joules;
}

/// Operations per unit. The record has those of an example, which may be many tokens.
std::optional<double> flops_per_unit(const StoredRun& run) {
  const auto flops = number_field(run.record, "workload.flops_per_image");
  if (speed_unit(run) != "tokens") return flops;
  const auto batch = number_field(run.record, "workload.global_batch");
  const auto units = units_per_step(run);
  if (!flops || !batch || !units || *units <= 0) return std::nullopt;
  return *flops * *batch / *units;
}

void finish_cell(ReportCell& cell) {
  if (cell.empty()) return;
  cell.disturbed = disturbed_runs(cell.runs);
  cell.speed = stats::group_summary(cell.speeds, kAlpha);
  std::vector<double> per_joule;
  for (const StoredRun* run : cell.runs) {
    if (const auto units = units_per_joule(*run)) per_joule.push_back(*units);
  }
  if (!per_joule.empty()) cell.units_per_joule = stats::group_summary(per_joule, kAlpha);
  if (const auto flops = flops_per_unit(*cell.runs.front())) {
    cell.gigaflops = cell.speed.median * *flops / 1e9;
  }
  cell.roof_share = median_field(cell.runs, "roof_share");
  if (!cell.roof_share) cell.roof_share = median_field(cell.runs, "mfu");
}

/// By mode, type, model and batch. The order of the runs would depend on when they ran.
auto row_order(const StoredRun& run) {
  return std::tuple(workload_group(run.record), text_field(run.record, "workload.model"),
                    integer_field(run.record, "workload.batch_per_device").value_or(0),
                    run.workload, run.workload_key);
}

std::size_t reference_of(const std::vector<ReportSystem>& systems, const std::string& wanted) {
  if (wanted.empty()) return 0;
  std::vector<std::size_t> found;
  std::string names;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    if (systems[i].name == wanted) return i;
    const bool named = systems[i].about.find(wanted) != std::string::npos ||
                       systems[i].name.find(wanted) != std::string::npos;
    if (named) found.push_back(i);
    if (!names.empty()) names += ", ";
    names += fmt::format("'{}'", systems[i].name);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    throw UsageError(
        fmt::format("--reference={}: matches no system; the systems are {}", wanted, names));
  }
  throw UsageError(
      fmt::format("--reference={}: matches several systems; type one of these names in full: {}",
                  wanted, names));
}

/// Systems by the number of workloads that they ran, then undisturbed ones first, then by name.
std::vector<ReportSystem> systems_of(const std::vector<const StoredRun*>& runs,
                                     const ReportOptions& options) {
  std::map<std::string, ReportSystem> by_key;
  std::map<std::string, std::set<std::string>> workloads;
  for (const StoredRun* run : runs) {
    ReportSystem& system = by_key[run->machine_key];
    system.key = run->machine_key;
    system.runs.push_back(run);
    workloads[run->machine_key].insert(run->workload_key);
  }
  std::vector<ReportSystem> systems;
  for (auto& [key, system] : by_key) systems.push_back(std::move(system));
  name_systems(systems, options.anonymize);
  const auto is_disturbed = [](const ReportSystem& system) {
    return disturbed_runs(system.runs).too_many();
  };
  std::stable_sort(systems.begin(), systems.end(),
                   [&](const ReportSystem& a, const ReportSystem& b) {
                     return std::tuple(workloads[b.key].size(), is_disturbed(a), a.name) <
                            std::tuple(workloads[a.key].size(), is_disturbed(b), b.name);
                   });
  const auto reference = static_cast<std::ptrdiff_t>(reference_of(systems, options.reference));
  std::rotate(systems.begin(), systems.begin() + reference, systems.begin() + reference + 1);
  return systems;
}

/// The first run of the row.
const StoredRun& a_run_of(const ReportRow& row) {
  const auto cell = std::find_if(row.cells.begin(), row.cells.end(),
                                 [](const ReportCell& each) { return !each.empty(); });
  return *cell->runs.front();
}

void name_rows(std::vector<ReportRow>& rows) {
  std::vector<NamedWorkload> workloads;
  for (ReportRow& row : rows) {
    const StoredRun& run = a_run_of(row);
    row.group = workload_group(run.record);
    row.unit = speed_unit(run);
    const std::string words = workload_words(run.record);
    workloads.push_back({.text = !words.empty()          ? words
                                 : !run.workload.empty() ? run.workload
                                                         : row.key,
                         .fields = workload_fields(run.record)});
  }
  std::vector<std::string> names = distinct_names(workloads);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].name = std::move(names[i]);
}

/// The workload without its backend, so that a GPU can be compared with a CPU. Imported runs of one
/// workload may count different units, which do not mix.
std::string key_of_any_backend(const StoredRun& run) {
  Fields fields = workload_fields(run.record);
  fields.erase("workload.backend");
  if (const std::string unit = speed_unit(run); unit != "images") fields["unit"] = unit;
  return key_of(fields);
}

/// The row of each workload key and unit. Workloads that differ only in the backend share a row,
/// unless one system used several backends: its speeds would mix.
std::map<std::pair<std::string, std::string>, std::string> row_keys(
    const std::vector<const StoredRun*>& runs) {
  std::map<std::pair<std::string, std::string>, std::string> rows;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> per_machine;
  std::set<std::string> mixed;
  for (const StoredRun* run : runs) {
    const std::string key = key_of_any_backend(*run);
    rows[{run->workload_key, speed_unit(*run)}] = key;
    std::set<std::string>& keys = per_machine[{key, run->machine_key}];
    keys.insert(run->workload_key);
    if (keys.size() > 1) {
      mixed.insert(key);
    }
  }
  for (auto& [workload, row] : rows) {
    if (mixed.contains(row)) {
      row = workload.first + workload.second;
    }
  }
  return rows;
}

std::vector<ReportRow> rows_of(const std::vector<const StoredRun*>& runs,
                               const std::vector<ReportSystem>& systems) {
  std::vector<const StoredRun*> sorted = runs;
  std::stable_sort(sorted.begin(), sorted.end(), [](const StoredRun* a, const StoredRun* b) {
    return row_order(*a) < row_order(*b);
  });
  const auto keys = row_keys(sorted);
  std::vector<ReportRow> rows;
  std::map<std::string, std::size_t> index;
  for (const StoredRun* run : sorted) {
    const std::string& key = keys.at({run->workload_key, speed_unit(*run)});
    const auto [place, is_new] = index.emplace(key, rows.size());
    if (is_new) {
      ReportRow& row = rows.emplace_back();
      row.key = key;
      row.cells.resize(systems.size());
    }
    rows[place->second].workload_keys.insert(run->workload_key);
    const auto system = std::find_if(systems.begin(), systems.end(), [&](const ReportSystem& one) {
      return one.key == run->machine_key;
    });
    ReportCell& cell =
        rows[place->second].cells[static_cast<std::size_t>(system - systems.begin())];
    cell.runs.push_back(run);
    cell.speeds.push_back(*speed_of(*run));
  }
  name_rows(rows);
  for (ReportRow& row : rows) {
    for (ReportCell& cell : row.cells) {
      finish_cell(cell);
      const ReportCell& reference = row.cells.front();
      if (cell.empty() || reference.empty() || &cell == &reference) continue;
      cell.log_ratio =
          stats::hodges_lehmann(logarithms(reference.speeds), logarithms(cell.speeds), kAlpha);
    }
  }
  return rows;
}

void add_geometric_means(ReportData& data) {
  for (std::size_t i = 1; i < data.systems.size(); ++i) {
    std::vector<stats::ModelRuns> workloads;
    std::string ids;
    for (const ReportRow& row : data.rows) {
      const ReportCell& cell = row.cells[i];
      if (cell.empty() || row.cells.front().empty()) continue;
      workloads.push_back(
          {.reference = logarithms(row.cells.front().speeds), .other = logarithms(cell.speeds)});
      for (const StoredRun* run : cell.runs) ids += run->record_id;
    }
    ReportSystem& system = data.systems[i];
    system.workloads_in_mean = workloads.size();
    if (workloads.empty()) continue;
    system.geometric_mean =
        stats::geometric_mean(workloads, {.alpha = kAlpha, .seed = hash_name(ids)});
  }
}

/// A key that is equal for runs whose speeds on several devices and on one may be compared. It
/// covers the workload except the number of devices and the global batch. It covers the machine,
/// with the threads of one CPU device and with each kind of GPU once.
std::string scaling_key(const nlohmann::json& record, std::int64_t devices) {
  Fields fields = workload_fields(record);
  fields.erase("workload.devices");
  fields.erase("workload.global_batch");
  std::set<std::string> gpus;
  for (const auto& [path, value] : machine_fields(record)) {
    if (path.starts_with("gpu.")) {
      gpus.insert(fmt::format("{} {}", path.substr(path.rfind('.') + 1), value));
    } else {
      fields[path] = value;
    }
  }
  fields["gpu"] = nlohmann::json(gpus).dump();
  const auto threads = fields.find("cpu.threads_used");
  // All threads of a host serve each of its GPUs.
  if (gpus.empty() && threads != fields.end()) {
    threads->second =
        fmt::format("{:g}", std::stod(threads->second) / static_cast<double>(devices));
  }
  return key_of(fields);
}

/// Finds workloads on one system that differ only in the number of devices.
void add_scaling(ReportData& data) {
  struct Series {
    std::string name{};
    std::map<std::int64_t, std::vector<double>> speeds{};
  };
  std::map<std::string, Series> all;
  for (const ReportRow& row : data.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      for (const StoredRun* run : row.cells[i].runs) {
        const auto devices = integer_field(run->record, "workload.devices");
        if (!devices || *devices < 1) continue;
        Series& series = all[scaling_key(run->record, *devices)];
        if (*devices == 1) series.name = fmt::format("{}, {}", row.name, data.systems[i].name);
        series.speeds[*devices].push_back(*speed_of(*run));
      }
    }
  }
  for (const auto& [key, series] : all) {
    const auto one = series.speeds.find(1);
    if (one == series.speeds.end() || series.speeds.size() < 2) continue;
    ScalingCurve curve{.name = series.name, .points = {}};
    for (const auto& [devices, speeds] : series.speeds) {
      if (devices == 1) continue;
      std::vector<double> shares;
      for (const double speed : speeds) shares.push_back(speed / static_cast<double>(devices));
      curve.points.push_back({.devices = devices,
                              .log_efficiency = stats::hodges_lehmann(logarithms(one->second),
                                                                      logarithms(shares), kAlpha)});
    }
    data.scaling.push_back(std::move(curve));
  }
}

/// True if the report shows the run.
bool is_shown(const StoredRun& run) {
  const auto speed = speed_of(run);
  return run.status == "ok" && speed && *speed > 0;
}

}  // namespace

std::string common_unit(const ReportData& data) {
  const std::string& unit = data.rows.front().unit;
  const bool same = std::all_of(data.rows.begin(), data.rows.end(),
                                [&](const ReportRow& row) { return row.unit == unit; });
  return same ? unit.substr(0, unit.size() - 1) : "unit of work";
}

const std::string& workload_name(const ReportData& data, const StoredRun& run) {
  const auto row = std::find_if(data.rows.begin(), data.rows.end(), [&](const ReportRow& each) {
    return each.workload_keys.contains(run.workload_key);
  });
  return row == data.rows.end() ? run.workload : row->name;
}

std::string system_tag_note(std::span<const StoredRun> runs) {
  struct System {
    std::string machine{};
    std::set<std::string> tags{};
  };
  std::map<std::string, System> systems;
  for (const StoredRun& run : runs) {
    if (!is_shown(run)) continue;
    System& system = systems[run.machine_key];
    system.machine = run.machine;
    const auto tag = run.tags.find("system");
    system.tags.insert(tag == run.tags.end() ? "no tag" : fmt::format("'{}'", tag->second));
  }
  std::string listed;
  for (const auto& [key, system] : systems) {
    if (system.tags.size() < 2) continue;
    std::string tags;
    for (const std::string& tag : system.tags) tags += (tags.empty() ? "" : ", ") + tag;
    if (!listed.empty()) listed += "; ";
    listed += fmt::format("{} ({})", system.machine, tags);
  }
  if (listed.empty()) return "";
  return "runs of one system have different values of the tag 'system', so the report names the "
         "system after its hardware: " +
         listed;
}

ReportData report_data(std::span<const StoredRun> runs, const ReportOptions& options) {
  ReportData data;
  std::vector<const StoredRun*> used;
  for (const StoredRun& run : runs) {
    (is_shown(run) ? used : data.left_out).push_back(&run);
  }
  if (used.empty()) {
    throw UsageError(
        fmt::format("no run has both the status ok and a speed (runs read: {})", runs.size()));
  }
  data.systems = systems_of(used, options);
  data.rows = rows_of(used, data.systems);
  add_geometric_means(data);
  add_scaling(data);
  return data;
}

}  // namespace bench::results
