#include "results/track/disturbed_levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "models/base/errors.h"
#include "results/record/statistics.h"
#include "results/stats/mann_whitney.h"
#include "results/store/disturbance.h"

namespace bench::results {
namespace {

using stats::ChangeVerdict;

/// The points of one level that are next to a change.
struct Level {
  DisturbedRuns points{};
  std::vector<double> quiet_logs{};  ///< Logarithms of the points that were not disturbed.

  /// True if the quiet points suffice to show a change. A disturbed level needs more of them,
  /// because records do not report every disturbance.
  [[nodiscard]] bool has_enough() const {
    constexpr std::size_t kFew = 2;
    constexpr std::size_t kMany = 5;
    return quiet_logs.size() >= (points.too_many() ? kMany : kFew);
  }
};

/// The most points on each side to look at: each needs its record.
constexpr std::size_t kLookedAt = 20;

class DisturbedSeries {
 public:
  DisturbedSeries(TrackedSeries& tracked, double alpha, const DisturbancesOfRun& disturbances)
      : tracked_(tracked), alpha_(alpha), disturbances_(disturbances) {}

  void judge() {
    judge_changes();
    if (tracked_.newest_state == NewestState::kDisturbed) tracked_.newest_disturbed = true;
    if (tracked_.newest_state != NewestState::kSuspect) return;
    tracked_.newest_why = disturbance_of(tracked_.series.points.back(), disturbances_);
    tracked_.newest_disturbed = !tracked_.newest_why.empty();
  }

 private:
  /// Judges each change that matters. A disturbed change shows no recovery, so that earlier changes
  /// may then matter too.
  void judge_changes() {
    std::vector<bool> judged(tracked_.changes.size());
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < judged.size(); ++i) {
        SeriesChange& change = tracked_.changes[i];
        if (judged[i] || change.verdict == ChangeVerdict::kInconclusive || change.recovered ||
            !change.counts) {
          continue;
        }
        judged[i] = true;
        again = true;
        judge_change(change);
      }
      update_recovered(tracked_);
    }
  }

  void judge_change(SeriesChange& change) {
    const auto [before, after] = levels_of(change);
    if (!before.points.too_many() && !after.points.too_many()) return;
    if (const auto shift = confirmed_shift(change, before, after)) {
      change.shift = *shift;
      return;
    }
    change.verdict = ChangeVerdict::kDisturbed;
    if (change.by == FoundBy::kTwoPoints) tracked_.newest_state = NewestState::kDisturbed;
  }

  [[nodiscard]] bool is_disturbed(std::size_t point) const {
    return !disturbance_of(tracked_.series.points[point], disturbances_).empty();
  }

  [[nodiscard]] Level level(std::size_t begin, std::size_t end) const {
    Level level;
    for (std::size_t i = begin; i < end; ++i) {
      ++level.points.runs;
      if (is_disturbed(i)) {
        ++level.points.disturbed;
      } else {
        level.quiet_logs.push_back(std::log(tracked_.series.points[i].value));
      }
    }
    return level;
  }

  /// The levels before and after the change. Disturbed points just before it belong to the level
  /// after it, because it may begin with them.
  [[nodiscard]] std::pair<Level, Level> levels_of(const SeriesChange& change) const {
    std::size_t begin = change.at > kLookedAt ? change.at - kLookedAt : 0;
    std::size_t end = std::min(change.at + kLookedAt, tracked_.series.points.size());
    for (const SeriesChange& other : tracked_.changes) {
      if (other.verdict == ChangeVerdict::kDisturbed) continue;
      if (other.at < change.at) begin = std::max(begin, other.at);
      if (other.at > change.at) end = std::min(end, other.at);
    }
    std::size_t first = change.at;
    while (first > begin && is_disturbed(first - 1)) --first;
    return {level(begin, first), level(first, end)};
  }

  /// The shift of the quiet runs if they alone show the change.
  [[nodiscard]] std::optional<stats::Shift> confirmed_shift(const SeriesChange& change,
                                                            const Level& before,
                                                            const Level& after) const {
    if (!before.has_enough() || !after.has_enough()) return std::nullopt;
    const stats::Shift shift = stats::hodges_lehmann(before.quiet_logs, after.quiet_logs, alpha_);
    const bool same_direction = (shift.estimate < 0) == (change.shift.estimate < 0);
    if (!same_direction || std::abs(std::expm1(shift.estimate)) < tracked_.margin) {
      return std::nullopt;
    }
    return shift;
  }

  TrackedSeries& tracked_;
  double alpha_;
  const DisturbancesOfRun& disturbances_;
};

}  // namespace

std::string disturbance_of(const SeriesPoint& point, const DisturbancesOfRun& disturbances) {
  DisturbedRuns runs{.runs = point.run_ids.size()};
  std::string first;
  for (const std::string& run : point.run_ids) {
    const std::vector<std::string> causes = disturbances(run);
    if (causes.empty()) continue;
    ++runs.disturbed;
    if (first.empty()) first = causes.front();
  }
  return runs.too_many() ? first : "";
}

std::vector<std::size_t> points_to_judge(const RunSeries& series, double far,
                                         const DisturbancesOfRun& disturbances) {
  const std::vector<SeriesPoint>& points = series.points;
  std::vector<std::size_t> judged;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<double> neighbours;
    for (std::size_t j = i > kLookedAt ? i - kLookedAt : 0;
         j < std::min(i + kLookedAt + 1, points.size()); ++j) {
      neighbours.push_back(points[j].value);
    }
    // A run's record is looked at only if its value is odd.
    const bool is_odd = std::abs(points[i].value / median(neighbours) - 1) > far;
    if (!is_odd || disturbance_of(points[i], disturbances).empty()) judged.push_back(i);
  }
  if (judged.empty()) {
    judged.resize(points.size());
    std::iota(judged.begin(), judged.end(), 0);
  }
  return judged;
}

void judge_disturbances(Tracked& tracked, const DisturbancesOfRun& disturbances) {
  for (TrackedSeries& one : tracked.series) {
    DisturbedSeries(one, tracked.options.alpha, disturbances).judge();
  }
}

}  // namespace bench::results
