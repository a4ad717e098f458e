#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/stats/group_summary.h"
#include "results/stats/interval.h"

/// Drawings that several pages share, each a <figure> whose text alternative says what it shows.
namespace bench::results {

/// A drawing with its caption, which is plain text.
std::string figure(const std::string& caption, const std::string& drawing);

/// Puts several side by side if the page is wide enough.
std::string figures(const std::string& drawings);

/// A range from a little below `low` to a little above `high`, so that marks at the ends are not
/// cut.
std::pair<double, double> with_margin(double low, double high, double share);

/// One group of runs.
struct DotLane {
  std::string name{};
  std::string value{};  ///< Its centre, as text.
  std::vector<double> values{};
  stats::GroupSummary summary{};
};

/// Every run as a dot, with the group's median and its interval. Each group has a lane, on a common
/// scale. `id` must be unique on the page.
std::string dot_plot(const std::string& caption, const std::string& unit, const std::string& id,
                     const std::vector<DotLane>& lanes);

/// A ratio with its interval, both as logarithms.
struct Branch {
  std::string name{};
  std::string hover{};  ///< The ratio in words.
  double log_ratio = 0;
  std::optional<stats::Interval> interval{};
};

/// Names on the left, ratios on a common axis with a line at equality. Draws a band of ratios from
/// 1 - `margin` to 1 + `margin` if there is a margin.
std::string forest_plot(const std::string& title, const std::string& id,
                        const std::vector<Branch>& branches, double margin = 0);

}  // namespace bench::results
