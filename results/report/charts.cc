#include "results/report/charts.h"

#include <algorithm>
#include <cmath>

#include "models/base/errors.h"
#include "results/page/markup.h"
#include "results/page/plots.h"
#include "results/page/svg.h"

namespace bench::results {
namespace {

constexpr double kMargin = 8;
constexpr double kAxisHeight = 24;

std::string speed_text(const ReportCell& cell) {
  const std::string median = short_number(cell.speed.median);
  if (!cell.speed.interval) {
    if (cell.speed.n == 1) return fmt::format("{} (1 run)", median);
    return fmt::format("{} ({} runs, no 95% interval)", median, cell.speed.n);
  }
  return fmt::format("{} [{}, {}]", median, short_number(cell.speed.interval->low),
                     short_number(cell.speed.interval->high));
}

std::string work_plot(const ReportData& data, const ReportRow& row, std::size_t index) {
  std::vector<DotLane> lanes;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const ReportCell& cell = row.cells[i];
    if (cell.empty()) continue;
    lanes.push_back({.name = data.systems[i].name,
                     .value = speed_text(cell),
                     .values = cell.speeds,
                     .summary = cell.speed});
  }
  return dot_plot(row.name, row.unit + "/s", fmt::format("dots{}", index), lanes);
}

std::string ratio_hover(double log_ratio, const std::optional<stats::Interval>& interval) {
  const RatioText text = ratio_text(log_ratio, interval);
  if (!interval) return fmt::format("{}, too few runs for a 95% interval", text.ratio);
  return fmt::format("{}, 95% interval {}", text.ratio, text.interval);
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
    description +=
        fmt::format("{} devices: {}% efficiency. ", point.devices, short_number(efficiency));
  }
  Drawing drawing(kHeight + kAxisHeight,
                  fmt::format("{}: efficiency by number of devices", curve.name), description);
  const Scale x = Scale::logarithmic(1, static_cast<double>(curve.points.back().devices), kLeft,
                                     kDrawingWidth - 20);
  const Scale y = Scale::linear(0, highest * 1.05, kHeight - 14, kTop);
  for (const double level : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    drawing.line(kLeft, y.at(level), kDrawingWidth - kMargin, y.at(level),
                 level == 1 ? "equal" : "grid");
    drawing.text(kLeft - 4, y.at(level) + 4, fmt::format("{:g}%", 100 * level), Anchor::kEnd,
                 "tick");
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
    drawing.dot(place, y.at(efficiency), 3.5, "ratio", short_number(100 * efficiency) + "%");
    drawing.text(place, kHeight + 4, std::to_string(point.devices), Anchor::kMiddle, "tick");
    line.emplace_back(place, y.at(efficiency));
  }
  drawing.polyline(line, "curve");
  return figure(curve.name + ", efficiency by number of devices",
                drawing.html(fmt::format("scaling{}", index)));
}

}  // namespace

std::string dot_plots(const ReportData& data) {
  std::string html;
  for (std::size_t i = 0; i < data.rows.size(); ++i) html += work_plot(data, data.rows[i], i);
  return html;
}

std::string forest_plots(const ReportData& data) {
  std::string html;
  for (std::size_t i = 1; i < data.systems.size(); ++i) {
    std::vector<Branch> branches;
    for (const ReportRow& row : data.rows) {
      const auto& ratio = row.cells[i].log_ratio;
      if (!ratio) continue;
      const bool disturbed = row.cells[i].is_disturbed_next_to(row.cells.front());
      branches.push_back({.name = disturbed ? row.name + " (disturbed)" : row.name,
                          .hover = ratio_hover(ratio->estimate, ratio->interval),
                          .log_ratio = ratio->estimate,
                          .interval = ratio->interval});
    }
    if (branches.empty()) continue;
    html += forest_plot(
        fmt::format("{} relative to {}", data.systems[i].name, data.systems.front().name),
        fmt::format("forest{}", i), branches);
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
  return forest_plot("Geometric mean of the ratios to " + data.systems.front().name, "means",
                     branches);
}

std::string scaling_plots(const ReportData& data) {
  std::string html;
  for (std::size_t i = 0; i < data.scaling.size(); ++i) html += scaling_plot(data.scaling[i], i);
  return html;
}

}  // namespace bench::results
