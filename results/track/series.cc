#include "results/track/series.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "models/base/errors.h"
#include "results/record/identity.h"
#include "results/record/statistics.h"
#include "results/track/causes.h"

namespace bench::results {
namespace {

struct Group {
  std::vector<const StoredRun*> runs{};
  std::vector<double> values{};
};

using Groups = std::map<std::string, Group>;

/// Workload, machine and metric as texts for sorting, then their keys.
using SeriesName =
    std::tuple<std::string, std::string, std::string, bool, std::string, std::string>;

std::string key_of_series(const SeriesName& name) {
  const auto& [workload, machine, metric, canary, workload_key, machine_key] = name;
  return sha256_hex(
             fmt::format("{}|{}|{}{}", workload_key, machine_key, metric, canary ? "|canary" : ""))
      .substr(0, 16);
}

SeriesPoint point_of(const Group& group) {
  SeriesPoint point;
  point.start_ms = group.runs.front()->start_ms;
  for (const StoredRun* run : group.runs) {
    point.start_ms = std::min(point.start_ms, run->start_ms);
    point.run_ids.push_back(run->record_id);
  }
  point.value = median(group.values);
  point.git_rev = group.runs.front()->git_rev;
  return point;
}

/// Joins the groups of one revision on one day. The runs of each day are in order of time.
Groups joined_by_day(const Groups& groups) {
  Groups days;
  for (const auto& [id, group] : groups) {
    const SeriesPoint point = point_of(group);
    Group& day = days[fmt::format("{} {}", date_text(point.start_ms), point.git_rev)];
    day.runs.insert(day.runs.end(), group.runs.begin(), group.runs.end());
    day.values.insert(day.values.end(), group.values.begin(), group.values.end());
  }
  for (auto& [name, day] : days) {
    std::stable_sort(day.runs.begin(), day.runs.end(), [](const StoredRun* a, const StoredRun* b) {
      return a->start_ms < b->start_ms;
    });
  }
  return days;
}

}  // namespace

std::vector<RunSeries> series_of(std::span<const StoredRun> runs,
                                 const SeriesSelection& selection) {
  std::map<SeriesName, Groups> found;
  for (const StoredRun& run : runs) {
    if (run.status != "ok") continue;
    const bool canary = run.label == selection.canary;
    for (const std::string& metric : selection.metrics) {
      const auto value = run.metrics.find(metric);
      if (value == run.metrics.end()) continue;
      Group& group = found[{run.workload, run.machine, metric, canary, run.workload_key,
                            run.machine_key}][run.group_id];
      group.runs.push_back(&run);
      group.values.push_back(value->second.value);
    }
  }
  std::vector<RunSeries> all;
  for (auto& [name, groups] : found) {
    if (selection.point == PointOf::kDay) groups = joined_by_day(groups);
    RunSeries series;
    series.key = key_of_series(name);
    std::tie(series.workload, series.machine, series.metric, series.canary, series.workload_key,
             series.machine_key) = name;
    series.plain_workload = series.workload;
    const StoredMetric& metric =
        groups.begin()->second.runs.front()->metrics.find(series.metric)->second;
    series.unit = metric.unit;
    series.better = metric.better;
    for (const auto& [id, group] : groups) series.points.push_back(point_of(group));
    std::stable_sort(
        series.points.begin(), series.points.end(),
        [](const SeriesPoint& a, const SeriesPoint& b) { return a.start_ms < b.start_ms; });
    all.push_back(std::move(series));
  }
  return all;
}

}  // namespace bench::results
