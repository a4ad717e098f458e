#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/stats/geometric_mean.h"
#include "results/stats/group_summary.h"
#include "results/stats/interval.h"
#include "results/store/stored_run.h"

namespace bench::results {

/// The repeats of one work on one system.
struct ReportCell {
  std::vector<const StoredRun*> runs{};  ///< Those that have a speed, oldest first.
  std::vector<double> speeds{};          ///< Images per second of each.
  stats::GroupSummary speed{};           ///< Meaningless without runs.
  /// Relative to the reference system's cell: exp of the shift of the logarithms, with interval.
  std::optional<stats::Shift> log_ratio{};
  std::optional<stats::GroupSummary> images_per_joule{};  ///< Of the runs that know their energy.
  std::optional<double> gigaflops{};                      ///< Median speed x flops per image / 1e9.
  std::optional<double> roof_share{};  ///< Median of what the records say, 0 to 1.

  [[nodiscard]] bool empty() const { return runs.empty(); }
};

/// A machine as one column: hardware, threads and instruction set.
struct ReportSystem {
  std::string key{};
  std::string name{};   ///< For headings; short and unlike the others' names.
  std::string about{};  ///< The machine's whole text.
  std::vector<const StoredRun*> runs{};
  /// Over the works that this system and the reference both ran; none for the reference.
  std::optional<stats::GeometricMean> geometric_mean{};
  std::size_t works_in_mean = 0;
};

/// A work as one row, with a cell per system.
struct ReportRow {
  std::string key{};
  std::string name{};  ///< Such as "resnet50 train bs64 f32"; unlike the others' names.
  std::vector<ReportCell> cells{};
};

/// The efficiency of `devices` devices against one: X_k / (k X_1).
struct ScalingPoint {
  std::int64_t devices = 0;
  stats::Shift log_efficiency{};
};
struct ScalingCurve {
  std::string name{};  ///< Work, and system of the runs on one device.
  std::vector<ScalingPoint> points{};
};

struct ReportData {
  std::vector<ReportSystem> systems{};  ///< The reference first.
  std::vector<ReportRow> rows{};        ///< By model, then by mode and type.
  std::vector<ScalingCurve> scaling{};
  std::vector<const StoredRun*> left_out{};  ///< Not ok, or without a speed.
};

struct ReportOptions {
  std::string reference{};  ///< Part of a system's text; empty: the system with the most works.
  bool anonymize = false;   ///< Host names out of the systems' names.
};

/// The name of a run's work on the page; where no row has it, as its record tells.
const std::string& name_of_work(const ReportData& data, const StoredRun& run);

/// `runs` must outlive what is returned. Throws UsageError when none has a speed, or when the
/// reference names no system, or several.
ReportData report_data(std::span<const StoredRun> runs, const ReportOptions& options);

}  // namespace bench::results
