#include "results/track/series_plot.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <vector>

#include "models/base/errors.h"
#include "results/compare/number_text.h"
#include "results/page/plots.h"
#include "results/page/svg.h"
#include "results/track/causes.h"
#include "results/track/forms.h"

namespace bench::results {
namespace {

constexpr double kHeight = 150;      ///< Height of the plot, without labels.
constexpr double kLabelHeight = 14;  ///< Height of a row of labels above it.
constexpr double kAxisHeight = 24;
constexpr std::int64_t kMsOfADay = 86'400'000;

/// Labels along x, in as many rows as are needed to avoid overlaps.
class LabelRows {
 public:
  struct Label {
    double middle = 0;
    std::size_t row = 0;
    std::string text{};
  };

  void add(double x, const std::string& text) {
    const double half = label_width(text) / 2;
    const double middle = std::clamp(x, half, kDrawingWidth - half);
    std::size_t row = 0;
    while (row < ends_.size() && ends_[row] > middle - half) ++row;
    if (row == ends_.size()) ends_.push_back(0);
    ends_[row] = middle + half + 4;
    labels_.push_back({.middle = middle, .row = row, .text = text});
  }

  [[nodiscard]] double height() const { return kLabelHeight * static_cast<double>(ends_.size()); }
  [[nodiscard]] const std::vector<Label>& labels() const { return labels_; }

 private:
  std::vector<double> ends_{};  ///< The end of the last label in each row.
  std::vector<Label> labels_{};
};

/// First days of months, or midnights for a series shorter than two months.
std::vector<Scale::Tick> date_ticks(std::int64_t from, std::int64_t to) {
  using std::chrono::days;
  using std::chrono::months;
  using std::chrono::sys_days;
  using std::chrono::year_month_day;
  const auto day_of = [](std::int64_t ms) { return sys_days(days(ms / kMsOfADay)); };
  const auto ms_of = [](sys_days day) { return day.time_since_epoch().count() * kMsOfADay; };
  std::vector<Scale::Tick> ticks;
  const auto add = [&](sys_days day, std::size_t letters) {
    if (ms_of(day) < from || ms_of(day) > to) return;
    ticks.push_back({static_cast<double>(ms_of(day)), date_text(ms_of(day)).substr(0, letters)});
  };
  const year_month_day first(day_of(from));
  for (auto month = first.year() / first.month(); ms_of(month / 1) <= to; month += months(1)) {
    add(month / 1, 7);
  }
  if (ticks.size() > 1) return ticks;
  ticks.clear();
  for (sys_days day = day_of(from); ms_of(day) <= to; day += days(1)) add(day, 10);
  return ticks;
}

std::string describe(const TrackedSeries& one) {
  std::string text;
  for (const Segment& segment : one.segments) {
    const std::size_t count = segment.end - segment.begin;
    const std::string runs = count == 1 ? "1 run" : fmt::format("{} runs", count);
    text +=
        fmt::format("From {}: {} at {} {}. ", date_text(one.series.points[segment.begin].start_ms),
                    runs, summary_text(segment.summary), one.series.unit);
  }
  for (const SeriesChange& change : one.changes) {
    text += fmt::format("Change: {}. ", change_line(one, change));
  }
  return fmt::format("{}Newest run: {}.", text, newest_line(one));
}

/// Draws one series on its scales.
class SeriesPlot {
 public:
  explicit SeriesPlot(const TrackedSeries& one)
      : one_(one),
        points_(one.series.points),
        left_(widest_value() + 8),
        x_(Scale::linear(time_of(0), time_of(points_.size() - 1), left_ + 4, kDrawingWidth - 8)) {
    for (const SeriesChange& change : one.changes) {
      rows_.add(x_.at(time_of(change.at)),
                change_text(stats::relative_change(change.shift.estimate)));
    }
    top_ = rows_.height() + 4;
    bottom_ = top_ + kHeight;
    y_ = Scale::linear(low_, high_, bottom_, top_);
  }

  std::string html(const std::string& id) {
    Drawing drawing(bottom_ + kAxisHeight, title_of(one_.series), describe(one_));
    draw_noise(drawing);
    draw_axes(drawing);
    draw_changes(drawing);
    for (const Segment& segment : one_.segments) {
      const double level = y_.at(segment.summary.median);
      drawing.line(begin_of(segment), level, end_of(segment), level, "level");
    }
    for (std::size_t i = 0; i < points_.size(); ++i) {
      drawing.dot(x_.at(time_of(i)), y_.at(points_[i].value), 1.8, "point", point_text(i));
    }
    draw_newest(drawing);
    draw_annotations(drawing);
    return drawing.html(id);
  }

 private:
  [[nodiscard]] double time_of(std::size_t point) const {
    return static_cast<double>(points_[point].start_ms);
  }

  /// The width of the ticks' labels; also computes the range of values.
  double widest_value() {
    low_ = high_ = points_.front().value;
    for (const SeriesPoint& point : points_) {
      low_ = std::min(low_, point.value);
      high_ = std::max(high_, point.value);
    }
    const double noise = one_.noise.value_or(0);
    for (const Segment& segment : one_.segments) {
      low_ = std::min(low_, segment.summary.median * (1 - noise));
      high_ = std::max(high_, segment.summary.median * (1 + noise));
    }
    std::tie(low_, high_) = with_margin(low_, high_, 0.06);
    double widest = 0;
    for (const Scale::Tick& tick :
         Scale::linear(low_, high_, kHeight, 0).ticks(Scale::Labels::kStacked)) {
      widest = std::max(widest, label_width(tick.label));
    }
    return widest;
  }

  /// Levels reach half way to their neighbours, so that a level of a single run is visible.
  [[nodiscard]] double begin_of(const Segment& segment) const {
    const double own = x_.at(time_of(segment.begin));
    return segment.begin == 0 ? own : (own + x_.at(time_of(segment.begin - 1))) / 2;
  }
  [[nodiscard]] double end_of(const Segment& segment) const {
    const double own = x_.at(time_of(segment.end - 1));
    return segment.end == points_.size() ? own : (own + x_.at(time_of(segment.end))) / 2;
  }

  void draw_noise(Drawing& drawing) const {
    if (!one_.noise) return;
    for (const Segment& segment : one_.segments) {
      drawing.box(begin_of(segment), y_.at(segment.summary.median * (1 + *one_.noise)),
                  end_of(segment), y_.at(segment.summary.median * (1 - *one_.noise)), "band");
    }
  }

  void draw_axes(Drawing& drawing) const {
    for (const Scale::Tick& tick : y_.ticks(Scale::Labels::kStacked)) {
      drawing.line(left_, y_.at(tick.value), kDrawingWidth, y_.at(tick.value), "grid");
      drawing.text(left_ - 4, y_.at(tick.value) + 4, tick.label, Anchor::kEnd, "tick");
    }
    const auto dates = date_ticks(points_.front().start_ms, points_.back().start_ms);
    const double first = dates.empty() ? 0 : dates.front().value;
    drawing.x_axis(x_, x_.with_room(dates, first), top_, bottom_);
  }

  void draw_changes(Drawing& drawing) const {
    for (std::size_t i = 0; i < one_.changes.size(); ++i) {
      const double x = x_.at(time_of(one_.changes[i].at));
      drawing.line(x, baseline_of(rows_.labels()[i]) + 4, x, bottom_, "change");
    }
    for (const LabelRows::Label& label : rows_.labels()) {  // Above all lines.
      drawing.text(label.middle, baseline_of(label), label.text, Anchor::kMiddle, "name");
    }
  }

  static double baseline_of(const LabelRows::Label& label) {
    return kLabelHeight * static_cast<double>(label.row + 1) - 4;
  }

  void draw_newest(Drawing& drawing) const {
    if (one_.newest_state != NewestState::kSuspect &&
        one_.newest_state != NewestState::kDisturbed &&
        one_.newest_state != NewestState::kConfirmed) {
      return;
    }
    drawing.dot(x_.at(time_of(points_.size() - 1)), y_.at(points_.back().value), 5, "odd",
                newest_line(one_));
  }

  void draw_annotations(Drawing& drawing) const {
    for (const Annotation& annotation : one_.annotations) {
      for (std::size_t i = 0; i < points_.size(); ++i) {
        const std::vector<std::string>& ids = points_[i].run_ids;
        if (std::find(ids.begin(), ids.end(), annotation.run) == ids.end()) continue;
        drawing.dot(x_.at(time_of(i)), bottom_, 4, "note",
                    fmt::format("{}: {}", date_text(points_[i].start_ms), annotation.text));
      }
    }
  }

  [[nodiscard]] std::string point_text(std::size_t point) const {
    const std::string& revision = points_[point].git_rev;
    const std::string text = fmt::format("{}: {} {}", date_text(points_[point].start_ms),
                                         number_text(points_[point].value), one_.series.unit);
    if (revision.empty()) return text;
    return fmt::format("{}, revision {}", text, revision.substr(0, 10));
  }

  const TrackedSeries& one_;
  const std::vector<SeriesPoint>& points_;
  double low_ = 0;
  double high_ = 0;
  double left_;
  Scale x_;
  LabelRows rows_{};
  double top_ = 0;
  double bottom_ = 0;
  Scale y_ = Scale::linear(0, 1, 1, 0);
};

}  // namespace

std::string series_plot(const TrackedSeries& tracked, const std::string& id) {
  return figure(fmt::format("{} [{}]", title_of(tracked.series), tracked.series.unit),
                SeriesPlot(tracked).html(id));
}

}  // namespace bench::results
