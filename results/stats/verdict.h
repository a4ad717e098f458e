#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "results/record.h"
#include "results/stats/interval.h"

namespace bench::results::stats {

/// What a comparison says. kChanged is for numbers of which neither more nor less is better.
enum class ChangeVerdict { kRegressed, kImproved, kChanged, kEquivalent, kInconclusive };

/// regressed, improved, changed, equivalent or inconclusive.
std::string_view name_of(ChangeVerdict verdict);

struct VerdictRule {
  double margin = 0.01;  ///< The smallest relative change that matters.
  Better better = Better::kHigher;
};

/// The verdict by the interval of a log-ratio alone. With the interval turned so that more is
/// better, and as relative change [L, H]: H < -margin, or H < 0 and the estimate beyond the margin,
/// is a regression, and so mirrored an improvement; an interval within the margin, or one that
/// leaves out 0 while the estimate is within it, is equivalent; all else, and no interval, is
/// inconclusive.
ChangeVerdict judge(const Shift& log_ratio, const VerdictRule& rule);

struct PowerQuestion {
  double spread =
      0;  ///< Standard deviation of a run's logarithm; of a pair's difference if paired.
  double margin = 0.01;  ///< The change to be found.
  double alpha = 0.05;
  bool paired = false;
};

/// How many runs per side (pairs, where paired) find a change of the margin in 4 of 5 cases: for
/// two samples 2 (z(1 - alpha/2) + z(0.8))^2 s^2 / (0.955 margin^2), with the rank tests'
/// efficiency 0.955; half of that for pairs. At least what gives an interval at all.
std::int64_t runs_needed(const PowerQuestion& question);

/// e^d - 1: a log-ratio as relative change.
double relative_change(double log_ratio);
Interval relative_change(const Interval& log_ratio);

}  // namespace bench::results::stats
