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
#include "results/store/stored_run.h"

namespace bench::results {

struct CompareOptions {
  double margin = 0.01;  ///< The smallest relative change that matters.
  double alpha = 0.05;
  bool family_wise = false;  ///< Holm's correction, not Benjamini and Hochberg's.
  bool paired = false;       ///< base[i] and other[i] ran one after the other.
  /// Names; empty: images_per_sec where the runs have it, else all that have a direction; "all":
  /// all that are noisy.
  std::vector<std::string> metrics{};
  IgnoredFields ignored{};
  /// Fields of the work, named as ignored ones: rows stand together by their values, and each such
  /// group has geometric means of its own.
  std::vector<std::string> by{};
};

/// By which statistics a row's interval was made.
enum class ComparedBy { kGroups, kPairs, kNested };

/// A metric of one work on both sides.
struct ComparisonRow {
  std::string workload{};
  std::string group{};  ///< Such as "model resnet50", by CompareOptions::by.
  std::string metric{};
  std::string unit{};
  Better better = Better::kNone;
  ComparedBy by = ComparedBy::kGroups;
  std::vector<double> base_values{};
  std::vector<double> other_values{};
  std::vector<double> base_groups{};  ///< Medians of the groups' logarithms, where by kNested.
  std::vector<double> other_groups{};
  stats::GroupSummary base{};
  stats::GroupSummary other{};
  std::optional<stats::Shift> shift{};  ///< Of logarithms; none where values are not positive.
  double q = 1;                         ///< shift->p, corrected for the number of rows.
  double delta = 0;                     ///< Cliff's, of the values as they are.
  stats::ChangeVerdict verdict = stats::ChangeVerdict::kInconclusive;
  bool uncorrected = false;              ///< More than inconclusive, were it the only row.
  std::optional<std::int64_t> needed{};  ///< Per side, of an inconclusive row: runs, or groups.
  std::optional<double> drift{};         ///< Of paired runs: relative change per run, both sides.
};

/// A number that is the same in every run of the same program, and is not here.
struct ExactDifference {
  std::string workload{};
  std::string metric{};
  std::vector<double> base{};  ///< Each value once.
  std::vector<double> other{};
};

struct GeomeanRow {
  std::string group{};  ///< Empty: of all rows.
  std::string metric{};
  std::size_t works = 0;
  stats::GeometricMean mean{};
};

struct Comparison {
  CompareOptions options{};
  std::string base_name{};
  std::string other_name{};
  std::size_t base_runs = 0;
  std::size_t other_runs = 0;
  std::vector<ComparisonRow> rows{};
  std::vector<ExactDifference> exact{};
  std::vector<GeomeanRow> geomeans{};  ///< Of metrics with two rows or more.
  std::vector<EnvironmentDifference> environment{};
  std::vector<std::string> base_quality{};
  std::vector<std::string> other_quality{};
  std::vector<std::string> notes{};  ///< What was left out, and why.
};

struct ComparedSide {
  std::string name{};
  std::vector<StoredRun> runs{};
};

/// Compares the runs of two sides, of which those that did not end well are left out. Throws
/// DataError for sides without common work, and for a metric that none of them has.
Comparison compare(const ComparedSide& base, const ComparedSide& other,
                   const CompareOptions& options);

/// Corrects p over all rows of all comparisons, takes back verdicts that do not stand it, and says
/// how many runs the inconclusive ones need. `compare` has done so for its own rows.
void correct_rows(std::span<Comparison> comparisons);

/// 1 with a regression, else 4 with an inconclusive row where `strict`, else 0.
int exit_status(std::span<const Comparison> comparisons, bool strict);

}  // namespace bench::results
