#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/report/report_data.h"

namespace bench::results {

/// How sure it is that the best system is better than every other one.
enum class Sure {
  kCertain,     ///< 99% intervals; every cell has at least 6 undisturbed runs and few others.
  kProbably,    ///< 90% intervals.
  kCannotTell,  ///< Neither, the lead is below 1%, or disturbances may explain it.
};

/// A smaller lead than this factor does not matter.
inline constexpr double kLeastLead = 1.01;

/// "certain", "probably" or "cannot tell".
const char* sure_word(Sure sure);

enum class Measure { kSpeed, kCost };

/// The best system by speed or by cost.
struct Lead {
  std::vector<std::size_t> rows{};  ///< The workloads compared: all systems ran them.
  /// Each system's result relative to the best one: e to this value. Empty: not compared.
  std::vector<std::optional<double>> log_ratios{};
  std::size_t best = 0;
  std::size_t next = 0;  ///< The second best; equals `best` with a single system.
  double log_ratio = 0;  ///< From the next to the best: 0 or more.
  std::optional<stats::Interval> interval{};  ///< 95%, of log_ratio.
  Sure sure = Sure::kCannotTell;
  bool disturbed = false;  ///< Disturbances may explain the lead.
  bool free = false;       ///< The best costs nothing; the other members say nothing about cost.
  std::string why_none{};  ///< Why nothing could be compared, as a sentence; else empty.
};

/// The lead over these rows of `data`. Several workloads count by geometric mean.
Lead lead_of(const ReportData& data, const std::vector<std::size_t>& rows, Measure measure);

}  // namespace bench::results
