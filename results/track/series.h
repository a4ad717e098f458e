#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// One point of a series: the runs that PointOf selects.
struct SeriesPoint {
  std::int64_t start_ms = 0;  ///< Start of the first run.
  double value = 0;           ///< Median of the runs.
  std::vector<std::string> run_ids{};
  std::string git_rev{};
};

/// A metric of one workload on the same hardware, over time.
struct RunSeries {
  std::string key{};
  std::string workload{};
  std::string plain_workload{};  ///< The name in the store, which other workloads may share.
  std::string workload_key{};
  std::string machine{};
  std::string machine_key{};
  std::string metric{};
  std::string unit{};
  Better better = Better::kNone;
  bool canary = false;  ///< Runs of a frozen program: its changes come from the machine.
  std::vector<SeriesPoint> points{};
};

/// The runs that form one point of a series.
enum class PointOf {
  kRun,  ///< A run, or a group of repeats.
  kDay,  ///< All runs of one revision on one day (UTC).
};

struct SeriesSelection {
  std::vector<std::string> metrics{kSpeedMetrics.begin(), kSpeedMetrics.end()};
  std::string canary = "canary";  ///< The label of runs of a frozen program.
  PointOf point = PointOf::kRun;
};

/// The series of these runs (records are not needed) by workload, machine and metric, each in order
/// of time. Omits runs that did not end well.
std::vector<RunSeries> series_of(std::span<const StoredRun> runs, const SeriesSelection& selection);

}  // namespace bench::results
