#pragma once

#include <string>
#include <vector>

#include "results/record/record.h"

namespace bench::results {

/// A run is disturbed if other programs used more processors than this. Less is a machine's
/// ordinary background activity.
inline constexpr double kToleratedProcessors = 0.25;
/// Daemons need more on a large machine: this share of the run's processors.
inline constexpr double kToleratedShare = 0.01;
/// A run is disturbed if the hypervisor took more than this share of the processor time.
inline constexpr double kToleratedSteal = 0.01;

/// Statistics of a run's step times, in seconds.
struct StepStatistics {
  double steps = 0;
  double mean = 0;
  double median = 0;
  double longest = 0;

  /// True if one step took more than a hundredth of the run and ten times the median. Three times
  /// the median is enough if the step also took over 2 s longer than it.
  [[nodiscard]] bool one_stood_still() const;
};

/// Processor time that other programs took, in processors; 0 if it is unknown.
double busy_processors(const Record& record);

/// What makes the step times unreliable: too few steps, or one that took many times the median.
/// One sentence each.
std::vector<std::string> step_warnings(const Record& record);

/// Adds quality.score and quality.deductions: 100 less a deduction for each condition that makes a
/// number low or unsteady, at least 0. Unknown conditions deduct nothing.
/// bench/manual/COMPARE_AND_REPORT.md lists the deductions.
void add_quality_score(Record& record);

}  // namespace bench::results
