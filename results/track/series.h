#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// One night of a series: a run, or a group of repeats.
struct Night {
  std::int64_t start_ms = 0;  ///< Of the first run.
  double value = 0;           ///< Their median.
  std::vector<std::string> run_ids{};
  std::string git_rev{};
};

/// A metric of the same work on the same hardware, over time.
struct NightlySeries {
  std::string key{};
  std::string workload{};
  std::string plain_workload{};  ///< As the store has it, whatever other works are named like it.
  std::string workload_key{};
  std::string machine{};
  std::string machine_key{};
  std::string metric{};
  std::string unit{};
  Better better = Better::kNone;
  bool canary = false;  ///< Of a frozen program: what it shows, the machine did.
  std::vector<Night> nights{};
};

struct SeriesSelection {
  std::vector<std::string> metrics = {"images_per_sec"};
  std::string canary = "canary";  ///< The label of runs of a frozen program.
};

/// The series of these runs (which need no records), by workload, machine and metric, each in the
/// order of time. Runs that did not end well are left out.
std::vector<NightlySeries> series_of(std::span<const StoredRun> runs,
                                     const SeriesSelection& selection);

}  // namespace bench::results
