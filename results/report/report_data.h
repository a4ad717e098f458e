#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "results/report/cost.h"
#include "results/stats/geometric_mean.h"
#include "results/stats/group_summary.h"
#include "results/stats/interval.h"
#include "results/store/disturbance.h"
#include "results/store/stored_run.h"

namespace bench::results {

/// The repeats of one workload on one system.
struct ReportCell {
  std::vector<const StoredRun*> runs{};  ///< Runs that have a speed, oldest first.
  std::vector<double> speeds{};          ///< Units per second of each.
  stats::GroupSummary speed{};           ///< Meaningless without runs.
  /// Relative to the reference system's cell: the shift of the logarithms, with interval; exp gives
  /// the ratio.
  std::optional<stats::Shift> log_ratio{};
  std::optional<stats::GroupSummary> units_per_joule{};  ///< Over the runs that know their energy.
  std::optional<double> gigaflops{};                     ///< Arithmetic at the median speed.
  std::optional<double> roof_share{};                    ///< Median of the records' values, 0 to 1.

  DisturbedRuns disturbed{};

  [[nodiscard]] bool empty() const { return runs.empty(); }
  /// True if disturbances may explain the difference from this cell.
  [[nodiscard]] bool is_disturbed_next_to(const ReportCell& other) const {
    return disturbed.too_many() || other.disturbed.too_many();
  }
};

/// A machine as one column: hardware, threads and instruction set.
struct ReportSystem {
  std::string key{};
  std::string name{};   ///< For headings; short and distinct from the others' names.
  std::string about{};  ///< The machine's whole text.
  std::vector<const StoredRun*> runs{};
  /// Over the workloads that this system and the reference both ran; empty for the reference.
  std::optional<stats::GeometricMean> geometric_mean{};
  std::size_t workloads_in_mean = 0;
  std::optional<SystemPrice> price{};  ///< Set by add_prices().
};

/// A workload as one row, with a cell per system. Runs of different backends share it, unless one
/// system used several.
struct ReportRow {
  std::string key{};
  std::set<std::string> workload_keys{};
  std::string name{};   ///< "resnet50, training, batch 64, f32"; distinct from the others' names.
  std::string group{};  ///< "training, f32".
  std::string unit{};   ///< What its speeds count: images, tokens or examples.
  std::vector<ReportCell> cells{};
};

/// The efficiency of `devices` devices compared with one: X_k / (k X_1).
struct ScalingPoint {
  std::int64_t devices = 0;
  stats::Shift log_efficiency{};
};
struct ScalingCurve {
  std::string name{};  ///< Workload, and system of the runs on one device.
  std::vector<ScalingPoint> points{};
};

struct ReportData {
  std::vector<ReportSystem> systems{};  ///< The reference first.
  std::vector<ReportRow> rows{};        ///< By mode and type, then by model.
  std::vector<ScalingCurve> scaling{};
  std::vector<const StoredRun*> left_out{};  ///< Not ok, or without a speed.
};

struct ReportOptions {
  std::string reference{};  ///< Part of a system's text; empty: the system with the most workloads,
                            ///< if possible undisturbed.
  bool anonymize = false;   ///< Removes host names from the systems' names.
};

/// What all speeds of the page count, in the singular; "unit of work" if the rows differ.
std::string common_unit(const ReportData& data);

/// The name of a run's workload on the page; if no row has it, the name in its record.
const std::string& workload_name(const ReportData& data, const StoredRun& run);

/// A sentence that lists the systems whose runs have different values of the tag `system`; empty if
/// the runs of each system agree.
std::string system_tag_note(std::span<const StoredRun> runs);

/// `runs` must outlive the result. Throws UsageError if no run has a speed, or if the reference
/// does not match exactly one system.
ReportData report_data(std::span<const StoredRun> runs, const ReportOptions& options);

}  // namespace bench::results
