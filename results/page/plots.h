#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/stats/group_summary.h"
#include "results/stats/interval.h"

/// Drawings that several pages have, each a <figure> whose text alternative says what it shows.
namespace bench::results {

/// A drawing with its caption, which is plain text.
std::string figure(const std::string& caption, const std::string& drawing);

/// Several side by side where there is room.
std::string figures(const std::string& drawings);

/// From a little below `low` to a little above `high`, so that what lies there is whole.
std::pair<double, double> with_margin(double low, double high, double share);

/// One group of runs.
struct DotLane {
  std::string name{};
  std::string value{};  ///< Its centre, as text.
  std::vector<double> values{};
  stats::GroupSummary summary{};
};

/// Every run as a dot, with the group's median and its interval; a lane per group, on a scale of
/// their own. `id` must be unlike all others of the page.
std::string dot_plot(const std::string& caption, const std::string& unit, const std::string& id,
                     const std::vector<DotLane>& lanes);

/// A ratio with its interval, both as logarithms.
struct Branch {
  std::string name{};
  std::string hover{};  ///< It in words.
  double log_ratio = 0;
  std::optional<stats::Interval> interval{};
};

/// Names to the left, ratios on a common axis with a line where both are equal, and a band of
/// ratios from 1 - `margin` to 1 + `margin` where there is one.
std::string forest_plot(const std::string& title, const std::string& id,
                        const std::vector<Branch>& branches, double margin = 0);

}  // namespace bench::results
