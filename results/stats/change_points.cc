#include "results/stats/change_points.h"

#include <algorithm>
#include <cmath>

#include "results/record/statistics.h"
#include "results/stats/energy.h"
#include "results/stats/mann_whitney.h"
#include "results/stats/verdict.h"

namespace bench::results::stats {
namespace {

/// With five points against three, the interval of 95 % still exists.
constexpr std::size_t kFewestPlaced = 3;

class EDivisive {
 public:
  EDivisive(std::span<const double> series, const ChangePointOptions& options)
      : series_(series), options_(options) {}

  std::vector<ChangePoint> found() {
    divide(0, series_.size());
    std::sort(points_.begin(), points_.end(),
              [](const ChangePoint& a, const ChangePoint& b) { return a.at < b.at; });
    for (std::size_t i = 0; i < points_.size(); ++i) settle(i);
    drop_small();
    mark_drift();
    return points_;
  }

 private:
  void divide(std::size_t begin, std::size_t end) {
    const std::span<const double> part = series_.subspan(begin, end - begin);
    const Split split = best_split(part, options_.least);
    const double p = split_p(part, split,
                             {.least = options_.least,
                              .permutations = options_.permutations,
                              .seed = options_.seed,
                              .stream = tests_++});
    if (split.at == 0 || p > options_.level) return;
    points_.push_back({.at = begin + split.at, .p = p});
    divide(begin, begin + split.at);
    divide(begin + split.at, end);
  }

  [[nodiscard]] std::size_t begin_of(std::size_t i) const { return i == 0 ? 0 : points_[i - 1].at; }
  [[nodiscard]] std::size_t end_of(std::size_t i) const {
    return i + 1 == points_.size() ? series_.size() : points_[i + 1].at;
  }

  /// Moves a point to where a step fits its two segments best, and compares the segments.
  void settle(std::size_t i) {
    const std::size_t begin = begin_of(i);
    const std::span<const double> both = series_.subspan(begin, end_of(i) - begin);
    points_[i].at = begin + best_step(both);
    const std::size_t left = points_[i].at - begin;
    points_[i].shift = hodges_lehmann(both.first(left), both.subspan(left), options_.alpha);
    const auto places =
        static_cast<double>(both.size() - 2 * std::min(kFewestPlaced, options_.least) + 1);
    points_[i].p_step = std::min(1.0, places * points_[i].shift.p);
  }

  /// The place of the step with the least sum of squares. Finding a change takes `least` points on
  /// either side. Placing it takes fewer, because a new level has only the points of the newest
  /// days.
  [[nodiscard]] std::size_t best_step(std::span<const double> values) const {
    const std::size_t fewest = std::min(kFewestPlaced, options_.least);
    std::size_t best = fewest;
    double least = squares_about_step(values, best);
    for (std::size_t at = best + 1; at + fewest <= values.size(); ++at) {
      const double left = squares_about_step(values, at);
      if (left < least) {
        least = left;
        best = at;
      }
    }
    return best;
  }

  static double squares_about_mean(std::span<const double> values) {
    const double spread = population_stddev(values);
    return spread * spread * static_cast<double>(values.size());
  }

  static double squares_about_step(std::span<const double> values, std::size_t at) {
    return squares_about_mean(values.first(at)) + squares_about_mean(values.subspan(at));
  }

  static double squares_about_line(std::span<const double> values) {
    const double middle = static_cast<double>(values.size() - 1) / 2;
    const double centre = mean(values);
    double products = 0;
    double places = 0;
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double place = static_cast<double>(i) - middle;
      products += place * (values[i] - centre);
      places += place * place;
      squares += (values[i] - centre) * (values[i] - centre);
    }
    return squares - products * products / places;
  }

  /// Marks changes as drift if one line explains neighbours of the same direction better than
  /// steps. Schwarz's criterion charges each step for a level and a place.
  void mark_drift() {
    for (std::size_t first = 0; first < points_.size();) {
      std::size_t last = first;
      while (last + 1 < points_.size() &&
             (points_[last + 1].shift.estimate > 0) == (points_[first].shift.estimate > 0)) {
        ++last;
      }
      const bool drift = is_line(first, last);
      for (; first <= last; ++first) points_[first].drift = drift;
    }
  }

  [[nodiscard]] bool is_line(std::size_t first, std::size_t last) const {
    const std::size_t begin = begin_of(first);
    const std::size_t end = end_of(last);
    double steps = 0;
    for (std::size_t i = first; i <= last; ++i) {
      steps += squares_about_mean(series_.subspan(begin_of(i), points_[i].at - begin_of(i)));
    }
    steps += squares_about_mean(series_.subspan(points_[last].at, end - points_[last].at));
    const double line = squares_about_line(series_.subspan(begin, end - begin));
    const auto n = static_cast<double>(end - begin);
    const auto more = static_cast<double>(2 * (last - first + 1) - 1);
    return steps > 0 && n * std::log(line / steps) < more * std::log(n);
  }

  [[nodiscard]] bool is_small(const ChangePoint& point) const {
    return std::abs(relative_change(point.shift.estimate)) < options_.margin ||
           !point.shift.interval || point.shift.interval->contains(0);
  }

  /// Drops the smallest of the changes that are too small, compares its neighbours with their new
  /// segments, and repeats.
  void drop_small() {
    while (true) {
      std::size_t smallest = points_.size();
      for (std::size_t i = 0; i < points_.size(); ++i) {
        if (is_small(points_[i]) &&
            (smallest == points_.size() ||
             std::abs(points_[i].shift.estimate) < std::abs(points_[smallest].shift.estimate))) {
          smallest = i;
        }
      }
      if (smallest == points_.size()) return;
      points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(smallest));
      if (smallest > 0) settle(smallest - 1);
      if (smallest < points_.size()) settle(smallest);
    }
  }

  std::span<const double> series_;
  ChangePointOptions options_;
  std::uint64_t tests_ = 0;
  std::vector<ChangePoint> points_{};
};

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> series,
                                       const ChangePointOptions& options) {
  return EDivisive(series, options).found();
}

}  // namespace bench::results::stats
