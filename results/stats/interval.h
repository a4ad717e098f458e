#pragma once

#include <optional>

namespace bench::results::stats {

/// From `low` to `high`, both included.
struct Interval {
  double low = 0;
  double high = 0;

  [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval&) const = default;
};

/// The shift from one sample to another, in the unit of the values (log-ratios for logarithms).
struct Shift {
  double estimate = 0;
  std::optional<Interval> interval{};  ///< Empty if the sample is too small for the confidence.
  double p = 1;                        ///< Two-sided, for no shift at all.
};

}  // namespace bench::results::stats
