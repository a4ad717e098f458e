#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "results/record/record.h"
#include "results/stats/interval.h"

namespace bench::results::stats {

/// The result of a comparison. kChanged is for numbers without a better direction.
/// kDisturbed replaces the verdict on runs that other programs disturbed; judge() never returns it.
enum class ChangeVerdict {
  kRegressed,
  kImproved,
  kChanged,
  kEquivalent,
  kInconclusive,
  kDisturbed
};

/// regressed, improved, changed, equivalent, inconclusive or disturbed.
std::string_view name_of(ChangeVerdict verdict);

struct VerdictRule {
  double margin = 0.01;  ///< The smallest relative change that matters.
  Better better = Better::kHigher;
};

/// The verdict by the interval of a log-ratio alone. [L, H] is the interval as relative change,
/// turned so that more is better.
/// Regressed if H < -margin, or if H < 0 and the estimate is beyond the margin. Improved is the
/// mirror image.
/// Equivalent if the interval is within the margin, or if it excludes 0 while the estimate is
/// within the margin.
/// Inconclusive otherwise, and without an interval.
ChangeVerdict judge(const Shift& log_ratio, const VerdictRule& rule);

/// The smallest number of runs per side (or of pairs, if paired) that can give an interval at
/// 1 - `alpha`.
std::int64_t least_runs(double alpha, bool paired);

struct PowerQuestion {
  double spread =
      0;  ///< Standard deviation of a run's logarithm; of a pair's difference if paired.
  double margin = 0.01;  ///< The change to find.
  double alpha = 0.05;
  bool paired = false;
};

/// The number of runs per side (or of pairs, if paired) that finds a change of the margin in 4 of 5
/// cases. For two samples it is 2 (z(1 - alpha/2) + z(0.8))^2 s^2 / (0.955 margin^2), with the rank
/// tests' efficiency 0.955. For pairs it is half of that. It is at least least_runs().
std::int64_t runs_needed(const PowerQuestion& question);

/// e^d - 1: a log-ratio as relative change.
double relative_change(double log_ratio);
Interval relative_change(const Interval& log_ratio);

}  // namespace bench::results::stats
