#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/compare/differences.h"
#include "results/compare/matching.h"
#include "results/stats/geometric_mean.h"
#include "results/stats/group_summary.h"
#include "results/stats/verdict.h"
#include "results/store/disturbance.h"
#include "results/store/stored_run.h"

namespace bench::results {

struct CompareOptions {
  double margin = 0.01;  ///< The smallest relative change that matters.
  double alpha = 0.05;
  bool family_wise = false;      ///< Holm's correction, not Benjamini and Hochberg's.
  bool paired = false;           ///< base[i] and other[i] ran one after the other.
  bool trust_disturbed = false;  ///< Judge disturbed runs like others.
  /// Names of metrics. By default images_per_sec if the runs have it, else all that have a
  /// direction. "all" means all noisy metrics.
  std::vector<std::string> metrics{};
  IgnoredFields ignored{};
  /// Fields of the workload, named like ignored ones. Rows with equal values form a group, with
  /// separate geometric means.
  std::vector<std::string> by{};
};

/// The statistics that a row's interval comes from.
enum class ComparedBy { kGroups, kPairs, kNested };

/// A metric of one workload on both sides.
struct ComparisonRow {
  std::string workload{};
  std::string group{};  ///< For example "model resnet50", by CompareOptions::by.
  std::string metric{};
  std::string unit{};
  Better better = Better::kNone;
  ComparedBy by = ComparedBy::kGroups;
  std::vector<double> base_values{};
  std::vector<double> other_values{};
  DisturbedRuns base_disturbed{};
  DisturbedRuns other_disturbed{};
  std::vector<double> base_groups{};  ///< Medians of the groups' logarithms, if by kNested.
  std::vector<double> other_groups{};
  stats::GroupSummary base{};
  stats::GroupSummary other{};
  std::optional<stats::Shift> shift{};  ///< In logarithms; empty if values are not positive.
  double q = 1;                         ///< shift->p, corrected for the number of rows.
  double delta = 0;                     ///< Cliff's delta of the values as they are.
  /// The sides have no processor, or no GPUs, in common. A change is then not a regression.
  bool other_hardware = false;
  stats::ChangeVerdict verdict = stats::ChangeVerdict::kInconclusive;
  bool uncorrected = false;              ///< Would be more than inconclusive as the only row.
  std::optional<std::int64_t> needed{};  ///< Runs or groups per side, for an inconclusive row.
  /// Runs, groups or pairs per side that an interval needs, if the row has none.
  std::optional<std::int64_t> least{};
  std::optional<double> drift{};  ///< For paired runs: relative change per run, both sides.
};

/// A number that should be the same in every run of a program, but differs here.
struct ExactDifference {
  std::string workload{};
  std::string metric{};
  std::vector<double> base{};  ///< Each value once.
  std::vector<double> other{};
};

struct GeomeanRow {
  std::string group{};  ///< Empty: all rows.
  std::string metric{};
  std::size_t workloads = 0;
  std::size_t disturbed = 0;  ///< Omitted workloads: disturbances may explain their changes.
  stats::GeometricMean mean{};
};

struct Comparison {
  CompareOptions options{};
  std::string base_name{};
  std::string other_name{};
  std::size_t base_runs = 0;
  std::size_t other_runs = 0;
  std::vector<ComparisonRow> rows{};
  std::vector<std::string> only_base{};  ///< Workloads without a successful run on the other side.
  std::vector<ExactDifference> exact{};
  std::vector<GeomeanRow> geomeans{};  ///< For metrics with two undisturbed rows or more.
  std::vector<EnvironmentDifference> environment{};
  std::vector<std::string> base_quality{};
  std::vector<std::string> other_quality{};
  std::vector<std::string> notes{};  ///< What was omitted, and why.
};

struct ComparedSide {
  std::string name{};
  std::vector<StoredRun> runs{};
};

/// Compares the runs of two sides, without those that did not end well. Throws DataError if the
/// sides have no common workload, or if no run has a requested metric.
Comparison compare(const ComparedSide& base, const ComparedSide& other,
                   const CompareOptions& options);

/// Corrects p over all rows of all comparisons. Withdraws verdicts that do not remain significant,
/// and computes how many runs the inconclusive rows need. `compare` does this for its own rows.
void correct_rows(std::span<Comparison> comparisons);

/// True for a row without an answer: inconclusive, disturbed, or changed on other hardware.
bool is_undecided(const ComparisonRow& row);

/// 1 with a regression. Else, if `strict`, 4 with an undecided row or a workload that only the base
/// has. Else 0.
int exit_status(std::span<const Comparison> comparisons, bool strict);

}  // namespace bench::results
