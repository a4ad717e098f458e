#include "results/page/plots.h"

#include <algorithm>
#include <cmath>

#include "models/base/errors.h"
#include "results/page/markup.h"
#include "results/page/svg.h"

namespace bench::results {
namespace {

constexpr double kMargin = 8;
constexpr double kAxisHeight = 24;

/// The dots of one group. Dots that would hide each other get separate lanes.
void draw_lane(Drawing& drawing, const Scale& scale, const DotLane& lane, const std::string& unit,
               double y) {
  if (lane.summary.interval) {
    const double low = scale.at(lane.summary.interval->low);
    const double high = scale.at(lane.summary.interval->high);
    drawing.line(low, y, high, y, "interval");
    drawing.line(low, y - 4, low, y + 4, "interval");
    drawing.line(high, y - 4, high, y + 4, "interval");
  }
  const double middle = scale.at(lane.summary.median);
  drawing.line(middle, y - 7, middle, y + 7, "median");
  std::size_t track = 0;
  for (const double value : lane.values) {
    const double lift = 2.5 * (static_cast<double>(track++ % 3) - 1);
    drawing.dot(scale.at(value), y + lift, 3, "run",
                fmt::format("{} {}", short_number(value), unit));
  }
}

}  // namespace

std::string figure(const std::string& caption, const std::string& drawing) {
  return fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", html_text(caption),
                     drawing);
}

std::string figures(const std::string& drawings) {
  return fmt::format("<div class=\"figures\">\n{}</div>\n", drawings);
}

std::pair<double, double> with_margin(double low, double high, double share) {
  const double room = high > low ? (high - low) * share : std::max(std::abs(high) * share, 1e-12);
  return {low - room, high + room};
}

std::string dot_plot(const std::string& caption, const std::string& unit, const std::string& id,
                     const std::vector<DotLane>& lanes) {
  constexpr double kLane = 36;
  double low = lanes.front().summary.min;
  double high = lanes.front().summary.max;
  std::string description;
  for (const DotLane& lane : lanes) {
    low = std::min(low, lane.summary.min);
    high = std::max(high, lane.summary.max);
    description += lane.summary.n == 1
                       ? fmt::format("{}: 1 run, median {} {}. ", lane.name, lane.value, unit)
                       : fmt::format("{}: {} runs, median {} {}. ", lane.name, lane.summary.n,
                                     lane.value, unit);
  }
  const double height = kLane * static_cast<double>(lanes.size()) + kAxisHeight;
  Drawing drawing(height, fmt::format("{}: {} of every run", caption, unit), description);
  const auto [from, to] = with_margin(low, high, 0.06);
  const Scale scale = Scale::linear(from, to, kMargin, kDrawingWidth - kMargin);
  drawing.x_axis(scale, scale.ticks(), 0, height - kAxisHeight);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const DotLane& lane = lanes[i];
    const double top = kLane * static_cast<double>(i);
    const double room = kDrawingWidth - label_width(lane.value) - 12;
    drawing.text(0, top + 12, fitted_label(lane.name, room), Anchor::kStart, "name");
    drawing.text(kDrawingWidth, top + 12, lane.value, Anchor::kEnd, "value");
    draw_lane(drawing, scale, lane, unit, top + 25);
  }
  return figure(fmt::format("{}, {}", caption, unit), drawing.html(id));
}

std::string forest_plot(const std::string& title, const std::string& id,
                        const std::vector<Branch>& branches, double margin) {
  constexpr double kLane = 20;
  constexpr double kNameRoom = 190;
  double low = std::log1p(-margin);
  double high = std::log1p(margin);
  double widest = 0;
  std::string description;
  for (const Branch& branch : branches) {
    low = std::min({low, branch.log_ratio, branch.interval ? branch.interval->low : 0.0});
    high = std::max({high, branch.log_ratio, branch.interval ? branch.interval->high : 0.0});
    widest = std::max(widest, label_width(branch.name));
    description += fmt::format("{}: {}. ", branch.name, branch.hover);
  }
  const double left = std::min(widest, kNameRoom) + 10;
  const double height = kLane * static_cast<double>(branches.size()) + 6 + kAxisHeight;
  const double bottom = height - kAxisHeight;
  Drawing drawing(height, title, description);
  const auto [from, to] = with_margin(low, high, 0.05);
  const Scale scale =
      Scale::logarithmic(std::exp(from), std::exp(to), left, kDrawingWidth - kMargin);
  if (margin > 0) drawing.box(scale.at(1 - margin), 0, scale.at(1 + margin), bottom, "band");
  drawing.x_axis(scale, scale.ticks(), 0, bottom);
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
                branch.interval ? "ratio" : "ratio open",
                fmt::format("{}: {}", branch.name, branch.hover));
  }
  return figure(title, drawing.html(id));
}

}  // namespace bench::results
