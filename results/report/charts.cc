#include "results/report/charts.h"

#include <algorithm>
#include <cmath>

#include "models/base/errors.h"
#include "results/report/markup.h"
#include "results/report/svg.h"

namespace bench::results {
namespace {

constexpr double kMargin = 8;
constexpr double kAxisHeight = 24;

std::string figure(const std::string& caption, const std::string& drawing) {
  return cat("<figure><figcaption>", html_text(caption), "</figcaption>\n", drawing, "</figure>\n");
}

/// A little beyond `low` and `high`, so that what lies there is whole.
std::pair<double, double> padded(double low, double high, double share) {
  const double room = high > low ? (high - low) * share : std::max(std::abs(high) * share, 1e-12);
  return {low - room, high + room};
}

std::string speed_text(const ReportCell& cell) {
  const std::string median = short_number(cell.speed.median);
  if (!cell.speed.interval) {
    return cat(median, " (", cell.speed.n, cell.speed.n == 1 ? " run)" : " runs, no 95% interval)");
  }
  return cat(median, " [", short_number(cell.speed.interval->low), ", ",
             short_number(cell.speed.interval->high), "]");
}

/// The dots of one system: those that would hide each other go in lanes.
void draw_runs(Drawing& drawing, const Scale& scale, const ReportCell& cell, double y) {
  if (cell.speed.interval) {
    const double low = scale.at(cell.speed.interval->low);
    const double high = scale.at(cell.speed.interval->high);
    drawing.line(low, y, high, y, "interval");
    drawing.line(low, y - 4, low, y + 4, "interval");
    drawing.line(high, y - 4, high, y + 4, "interval");
  }
  const double middle = scale.at(cell.speed.median);
  drawing.line(middle, y - 7, middle, y + 7, "median");
  std::size_t lane = 0;
  for (const double speed : cell.speeds) {
    const double lift = 2.5 * (static_cast<double>(lane++ % 3) - 1);
    drawing.dot(scale.at(speed), y + lift, 3, "run", cat(short_number(speed), " images/s"));
  }
}

std::string dot_plot(const ReportData& data, const ReportRow& row, std::size_t index) {
  constexpr double kLane = 36;
  std::vector<std::size_t> shown;
  double low = 0;
  double high = 0;
  std::string description;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const ReportCell& cell = row.cells[i];
    if (cell.empty()) continue;
    low = shown.empty() ? cell.speed.min : std::min(low, cell.speed.min);
    high = shown.empty() ? cell.speed.max : std::max(high, cell.speed.max);
    shown.push_back(i);
    description +=
        cat(data.systems[i].name, ": ", cell.speed.n, cell.speed.n == 1 ? " run" : " runs",
            ", median ", speed_text(cell), " images/s. ");
  }
  const double height = kLane * static_cast<double>(shown.size()) + kAxisHeight;
  Drawing drawing(height, cat(row.name, ": images per second of every run"), description);
  const auto [from, to] = padded(low, high, 0.06);
  const Scale scale = Scale::linear(from, to, kMargin, kDrawingWidth - kMargin);
  const double bottom = height - kAxisHeight;
  drawing.x_axis(scale, 0, bottom);
  for (std::size_t lane = 0; lane < shown.size(); ++lane) {
    const ReportCell& cell = row.cells[shown[lane]];
    const double top = kLane * static_cast<double>(lane);
    const std::string value = speed_text(cell);
    const double room = kDrawingWidth - label_width(value) - 12;
    drawing.text(0, top + 12, fitted_label(data.systems[shown[lane]].name, room), Anchor::kStart,
                 "name");
    drawing.text(kDrawingWidth, top + 12, value, Anchor::kEnd, "value");
    draw_runs(drawing, scale, cell, top + 25);
  }
  return figure(row.name + ", images/s", drawing.html(cat("dots", index)));
}

/// A row of a forest plot.
struct Branch {
  std::string name{};
  std::string hover{};
  double log_ratio = 0;
  std::optional<stats::Interval> interval{};
};

/// Names to the left, ratios on a common axis with a line where both are equal.
std::string forest(const std::string& title, const std::string& id,
                   const std::vector<Branch>& branches) {
  constexpr double kLane = 20;
  constexpr double kNameRoom = 190;
  double low = 0;
  double high = 0;
  double widest = 0;
  std::string description;
  for (const Branch& branch : branches) {
    low = std::min({low, branch.log_ratio, branch.interval ? branch.interval->low : 0.0});
    high = std::max({high, branch.log_ratio, branch.interval ? branch.interval->high : 0.0});
    widest = std::max(widest, label_width(branch.name));
    description += cat(branch.name, ": ", branch.hover, ". ");
  }
  const double left = std::min(widest, kNameRoom) + 10;
  const double height = kLane * static_cast<double>(branches.size()) + 6 + kAxisHeight;
  const double bottom = height - kAxisHeight;
  Drawing drawing(height, title, description);
  const auto [from, to] = padded(low, high, 0.05);
  const Scale scale =
      Scale::logarithmic(std::exp(from), std::exp(to), left, kDrawingWidth - kMargin);
  drawing.x_axis(scale, 0, bottom);
  drawing.line(scale.at(1), 0, scale.at(1), bottom, "equal");
  for (std::size_t lane = 0; lane < branches.size(); ++lane) {
    const Branch& branch = branches[lane];
    const double y = kLane * (static_cast<double>(lane) + 0.5) + 3;
    drawing.text(0, y + 4, fitted_label(branch.name, left - 8), Anchor::kStart, "name");
    if (branch.interval) {
      drawing.line(scale.at(std::exp(branch.interval->low)), y,
                   scale.at(std::exp(branch.interval->high)), y, "interval");
    }
    drawing.dot(scale.at(std::exp(branch.log_ratio)), y, 3.5,
                branch.interval ? "ratio" : "ratio open", cat(branch.name, ": ", branch.hover));
  }
  return figure(title, drawing.html(id));
}

std::string ratio_hover(double log_ratio, const std::optional<stats::Interval>& interval) {
  const RatioText text = ratio_text(log_ratio, interval);
  if (!interval) return text.ratio + ", too few runs for a 95% interval";
  return cat(text.ratio, ", 95% interval ", text.interval);
}

std::string scaling_plot(const ScalingCurve& curve, std::size_t index) {
  constexpr double kTop = 10;
  constexpr double kHeight = 150;
  constexpr double kLeft = 40;
  double highest = 1;
  for (const ScalingPoint& point : curve.points) {
    highest = std::max(highest, std::exp(point.log_efficiency.estimate));
  }
  std::string description;
  for (const ScalingPoint& point : curve.points) {
    const double efficiency = 100 * std::exp(point.log_efficiency.estimate);
    description += cat(point.devices, " devices: ", short_number(efficiency), "% of one. ");
  }
  Drawing drawing(kHeight + kAxisHeight, cat(curve.name, ": efficiency by devices"), description);
  const Scale x = Scale::logarithmic(1, static_cast<double>(curve.points.back().devices), kLeft,
                                     kDrawingWidth - 20);
  const Scale y = Scale::linear(0, highest * 1.05, kHeight - 14, kTop);
  for (const double level : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    drawing.line(kLeft, y.at(level), kDrawingWidth - kMargin, y.at(level),
                 level == 1 ? "equal" : "grid");
    drawing.text(kLeft - 4, y.at(level) + 4, cat(100 * level, "%"), Anchor::kEnd, "tick");
  }
  std::vector<std::pair<double, double>> line{{x.at(1), y.at(1)}};
  drawing.text(x.at(1), kHeight + 4, "1", Anchor::kMiddle, "tick");
  for (const ScalingPoint& point : curve.points) {
    const double place = x.at(static_cast<double>(point.devices));
    const double efficiency = std::exp(point.log_efficiency.estimate);
    if (const auto& interval = point.log_efficiency.interval) {
      drawing.line(place, y.at(std::exp(interval->low)), place, y.at(std::exp(interval->high)),
                   "interval");
    }
    drawing.dot(place, y.at(efficiency), 3.5, "ratio", cat(short_number(100 * efficiency), "%"));
    drawing.text(place, kHeight + 4, cat(point.devices), Anchor::kMiddle, "tick");
    line.emplace_back(place, y.at(efficiency));
  }
  drawing.polyline(line, "curve");
  return figure(curve.name + ", efficiency by devices", drawing.html(cat("scaling", index)));
}

}  // namespace

std::string dot_plots(const ReportData& data) {
  std::string html;
  for (std::size_t i = 0; i < data.rows.size(); ++i) html += dot_plot(data, data.rows[i], i);
  return html;
}

std::string forest_plots(const ReportData& data) {
  std::string html;
  for (std::size_t i = 1; i < data.systems.size(); ++i) {
    std::vector<Branch> branches;
    for (const ReportRow& row : data.rows) {
      const auto& ratio = row.cells[i].log_ratio;
      if (!ratio) continue;
      branches.push_back({.name = row.name,
                          .hover = ratio_hover(ratio->estimate, ratio->interval),
                          .log_ratio = ratio->estimate,
                          .interval = ratio->interval});
    }
    if (branches.empty()) continue;
    html += forest(cat(data.systems[i].name, " against ", data.systems.front().name),
                   cat("forest", i), branches);
  }
  return html;
}

std::string mean_plot(const ReportData& data) {
  std::vector<Branch> branches;
  for (const ReportSystem& system : data.systems) {
    if (!system.geometric_mean) continue;
    const auto& mean = *system.geometric_mean;
    branches.push_back({.name = system.name,
                        .hover = ratio_hover(mean.log_ratio, mean.interval),
                        .log_ratio = mean.log_ratio,
                        .interval = mean.interval});
  }
  if (branches.empty()) return "";
  return forest(cat("Geometric mean of the ratios to ", data.systems.front().name), "means",
                branches);
}

std::string scaling_plots(const ReportData& data) {
  std::string html;
  for (std::size_t i = 0; i < data.scaling.size(); ++i) html += scaling_plot(data.scaling[i], i);
  return html;
}

}  // namespace bench::results
