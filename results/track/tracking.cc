#include "results/track/tracking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/record/statistics.h"
#include "results/stats/change_points.h"
#include "results/stats/mann_whitney.h"
#include "results/stats/multiplicity.h"
#include "results/stats/noise_floor.h"
#include "results/track/causes.h"
#include "results/track/disturbed_levels.h"

namespace bench::results {
namespace {

using stats::ChangeVerdict;

/// The most newest runs that are judged separately; older ones form a change point.
constexpr std::size_t kNewestPoints = 4;

ChangeVerdict verdict_of(double log_ratio, Better better) {
  if (better == Better::kNone) return ChangeVerdict::kChanged;
  return (log_ratio < 0) == (better == Better::kHigher) ? ChangeVerdict::kRegressed
                                                        : ChangeVerdict::kImproved;
}

double log_of(const SeriesPoint& point) { return std::log(point.value); }

std::string id_of(const SeriesPoint& point) {
  constexpr std::size_t kShort = 10;
  return point.run_ids.front().substr(0, kShort);
}

/// Tracks one series.
class SeriesTracker {
 public:
  SeriesTracker(const RunSeries& series, const TrackOptions& options,
                const DisturbancesOfRun& disturbances)
      : options_(options), disturbances_(disturbances) {
    tracked_.series = series;
    tracked_.judged.resize(series.points.size());
    std::iota(tracked_.judged.begin(), tracked_.judged.end(), 0);
  }

  TrackedSeries tracked() {
    measure_noise();
    if (disturbances_) {
      constexpr double kFar = 3;  // Times the noise.
      const double far = std::max(options_.margin, kFar * tracked_.noise.value_or(0));
      tracked_.judged = points_to_judge(tracked_.series, far, disturbances_);
      measure_noise();
    }
    find_change_points();
    add_segments();
    judge_newest_points();
    for (SeriesChange& change : tracked_.changes) {
      change.verdict = verdict_of(change.shift.estimate, tracked_.series.better);
      change.cause = cause_by_revisions(tracked_, change.at);
      change.counts = tracked_.series.points[change.at].start_ms >= options_.since_ms;
    }
    update_recovered(tracked_);
    return std::move(tracked_);
  }

 private:
  void measure_noise() {
    logs_.clear();
    for (const std::size_t place : tracked_.judged)
      logs_.push_back(log_of(tracked_.series.points[place]));
    tracked_.noise = stats::noise_floor(logs_);
    tracked_.margin = std::max(options_.margin, tracked_.noise.value_or(0));
  }

  void find_change_points() {
    const stats::ChangePointOptions options{.least = options_.least_segment,
                                            .margin = tracked_.margin,
                                            .alpha = options_.alpha,
                                            .seed = hash_name(tracked_.series.key)};
    for (const stats::ChangePoint& point : stats::change_points(logs_, options)) {
      const std::size_t at = tracked_.judged[point.at];
      tracked_.changes.push_back({.id = id_of(tracked_.series.points[at]),
                                  .at = at,
                                  .last_good = tracked_.judged[point.at - 1],
                                  .p = std::min(1.0, 2 * std::min(point.p, point.p_step)),
                                  .shift = point.shift,
                                  .drift = point.drift});
    }
  }

  void add_segments() {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= tracked_.changes.size(); ++i) {
      const std::size_t end =
          i < tracked_.changes.size() ? tracked_.changes[i].at : tracked_.series.points.size();
      std::vector<double> values;
      for (std::size_t j = judged_before(begin); j < judged_before(end); ++j) {
        values.push_back(tracked_.series.points[tracked_.judged[j]].value);
      }
      tracked_.segments.push_back(
          {.begin = begin, .end = end, .summary = stats::group_summary(values, options_.alpha)});
      begin = end;
    }
  }

  /// The number of judged points before a point.
  [[nodiscard]] std::size_t judged_before(std::size_t point) const {
    const auto next = std::lower_bound(tracked_.judged.begin(), tracked_.judged.end(), point);
    return static_cast<std::size_t>(next - tracked_.judged.begin());
  }

  /// The number of newest runs that are all far outside the segment before them, on one side.
  std::size_t odd_points(std::span<const double> segment,
                         const stats::NewestPointRule& rule) const {
    std::size_t odd = 0;
    for (std::size_t count = 1; count <= std::min(kNewestPoints, segment.size()); ++count) {
      const std::span<const double> before = segment.first(segment.size() - count);
      const std::span<const double> points = segment.last(count);
      const bool all = std::all_of(points.begin(), points.end(), [&](double newest) {
        const auto point = stats::judge_newest(before, newest, rule);
        return point && point->suspect &&
               (point->log_ratio < 0) == (points.back() < median(before));
      });
      if (all) odd = count;
    }
    return odd;
  }

  void judge_newest_points() {
    const std::size_t first = judged_before(tracked_.segments.back().begin);
    const std::span<const double> segment = std::span<const double>(logs_).subspan(first);
    const stats::NewestPointRule rule{.margin = tracked_.margin};
    const std::size_t odd = odd_points(segment, rule);
    const SeriesPoint& newest = tracked_.series.points.back();
    const bool is_judged = tracked_.judged.back() + 1 == tracked_.series.points.size();
    const std::string disturbed = is_judged ? "" : disturbance_of(newest, disturbances_);
    const std::size_t before = segment.size() - (is_judged ? std::max<std::size_t>(odd, 1) : odd);
    tracked_.newest = stats::judge_newest(segment.first(before), log_of(newest), rule);
    if (!tracked_.newest) {
      tracked_.newest_why = fmt::format(
          "collecting a baseline: point {} of {}{}{}", segment.size(), stats::kLeastBefore,
          is_judged ? "" : ", not counting disturbed runs such as this: ", disturbed);
      return;
    }
    tracked_.newest_state = !is_judged ? NewestState::kDisturbed
                            : odd == 0 ? NewestState::kQuiet
                            : odd == 1 ? NewestState::kSuspect
                                       : NewestState::kConfirmed;
    tracked_.newest_why = disturbed;
    if (odd < 2) return;
    const stats::Shift shift =
        stats::hodges_lehmann(segment.first(before), segment.subspan(before), options_.alpha);
    const std::size_t at = tracked_.judged[first + before];
    tracked_.changes.push_back({.id = id_of(tracked_.series.points[at]),
                                .at = at,
                                .last_good = tracked_.judged[first + before - 1],
                                .by = FoundBy::kTwoPoints,
                                .p = shift.p,
                                .q = shift.p,
                                .shift = shift});
  }

  TrackOptions options_;
  const DisturbancesOfRun& disturbances_;
  TrackedSeries tracked_{};
  std::vector<double> logs_{};  ///< The logarithms of the judged points.
};

/// The newest level, except those that begin at a disturbed change.
const Segment& present_level(const TrackedSeries& one) {
  const auto is_disturbed = [&](const Segment& segment) {
    return std::any_of(one.changes.begin(), one.changes.end(), [&](const SeriesChange& change) {
      return change.by == FoundBy::kChangePoint && change.at == segment.begin &&
             change.verdict == ChangeVerdict::kDisturbed;
    });
  };
  // No change begins at the first level.
  return *std::find_if_not(one.segments.rbegin(), one.segments.rend(), is_disturbed);
}

/// True if the present level is as good as before the change, or better.
bool is_recovered(const TrackedSeries& one, const SeriesChange& change) {
  const Segment& present = present_level(one);
  const auto before =
      std::find_if(one.segments.begin(), one.segments.end(), [&](const Segment& segment) {
        return segment.end >= change.at && segment.begin < change.at;
      });
  if (before == one.segments.end() || change.by != FoundBy::kChangePoint) return false;
  const auto odd = std::find_if(one.changes.begin(), one.changes.end(), [](const auto& other) {
    return other.by != FoundBy::kChangePoint && other.verdict != ChangeVerdict::kDisturbed;
  });
  const bool odd_now = odd != one.changes.end();
  if (present.begin < change.at && !odd_now) return false;
  const double now = odd_now ? one.series.points[odd->at].value : present.summary.median;
  const double log_ratio = std::log(now / before->summary.median);
  const double worse = change.shift.estimate < 0 ? -log_ratio : log_ratio;
  return worse < one.margin;
}

/// A slide is one change, however many steps it was found in.
void join_drifts(TrackedSeries& one) {
  std::vector<SeriesChange> joined;
  for (SeriesChange& change : one.changes) {
    const bool continues = !joined.empty() && change.drift && joined.back().drift &&
                           change.verdict == joined.back().verdict;
    if (!continues) {
      joined.push_back(std::move(change));
      continue;
    }
    SeriesChange& whole = joined.back();
    whole.p = std::min(whole.p, change.p);
    whole.q = std::min(whole.q, change.q);
    whole.counts |= change.counts;
    whole.shift.estimate += change.shift.estimate;
    if (whole.shift.interval && change.shift.interval) {
      whole.shift.interval->low += change.shift.interval->low;
      whole.shift.interval->high += change.shift.interval->high;
    }
  }
  one.changes = std::move(joined);
}

bool is_trackable(const RunSeries& series) {
  return std::all_of(series.points.begin(), series.points.end(),
                     [](const SeriesPoint& point) { return point.value > 0; });
}

/// Drops change points that the number of series makes likely.
void correct_over_series(Tracked& tracked) {
  std::vector<double> p;
  for (const TrackedSeries& one : tracked.series) {
    bool any = false;
    for (const SeriesChange& change : one.changes) {
      if (change.by != FoundBy::kChangePoint) continue;
      p.push_back(change.p);
      any = true;
    }
    if (!any) p.push_back(1);
  }
  const std::vector<double> q = stats::benjamini_hochberg(p);
  std::size_t next = 0;
  for (TrackedSeries& one : tracked.series) {
    bool any = false;
    for (SeriesChange& change : one.changes) {
      if (change.by != FoundBy::kChangePoint) continue;
      change.q = q[next++];
      any = true;
      if (change.q > tracked.options.alpha) change.verdict = ChangeVerdict::kInconclusive;
    }
    if (!any) ++next;
  }
}

/// True if a note fits this change by direction and size. A change more than twice as large as the
/// noted one is another change.
bool is_alike(const ChangeNote& note, const SeriesChange& change) {
  if (!note.effect) return true;
  const double noted = std::log1p(*note.effect);
  const double found = change.shift.estimate;
  return (noted < 0) == (found < 0) && std::abs(found) <= 2 * std::abs(noted);
}

std::size_t apart(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

/// The change that was noted at this run: the nearest that is alike, within three runs.
SeriesChange* change_of_note(TrackedSeries& tracked, const ChangeNote& note, std::size_t point) {
  constexpr std::size_t kNear = 3;
  SeriesChange* nearest = nullptr;
  for (SeriesChange& change : tracked.changes) {
    if (apart(change.at, point) > kNear || !is_alike(note, change)) continue;
    if (nearest == nullptr || apart(change.at, point) < apart(nearest->at, point)) {
      nearest = &change;
    }
  }
  return nearest;
}

/// Applies people's notes to the changes. If a change has several notes, those of people outrank
/// those of track (`new`), then the nearest counts.
void apply_notes(TrackedSeries& tracked, std::span<const ChangeNote> notes) {
  std::map<std::string, std::size_t> point_of_run;
  for (std::size_t i = 0; i < tracked.series.points.size(); ++i) {
    for (const std::string& run : tracked.series.points[i].run_ids) point_of_run[run] = i;
  }
  std::map<const SeriesChange*, std::pair<bool, std::size_t>> ranks;  // Rank of the chosen note.
  for (const ChangeNote& note : notes) {
    const auto point = point_of_run.find(note.at_run);
    if (note.series_key != tracked.series.key || point == point_of_run.end()) continue;
    SeriesChange* change = change_of_note(tracked, note, point->second);
    if (change == nullptr) continue;
    change->noted_at.push_back(note.at_run);
    const std::pair rank(note.state == "new", apart(change->at, point->second));
    const auto [best, first] = ranks.emplace(change, rank);
    if (!first && rank >= best->second) continue;
    best->second = rank;
    change->known = true;
    change->state = note.state;
    change->note = note.note;
  }
}

}  // namespace

std::string_view name_of(FoundBy by) {
  switch (by) {
    case FoundBy::kChangePoint:
      return "change_point";
    case FoundBy::kTwoPoints:
      return "two_points";
    case FoundBy::kRerun:
      return "rerun";
  }
  throw InternalError("unnamed FoundBy");
}

std::string_view name_of(NewestState state) {
  switch (state) {
    case NewestState::kUnknown:
      return "unknown";
    case NewestState::kQuiet:
      return "quiet";
    case NewestState::kSuspect:
      return "suspect";
    case NewestState::kConfirmed:
      return "confirmed";
    case NewestState::kCleared:
      return "cleared";
    case NewestState::kDisturbed:
      return "disturbed";
  }
  throw InternalError("unnamed NewestState");
}

bool SeriesChange::fails() const {
  return verdict == ChangeVerdict::kRegressed && state == "new" && !drift && !recovered && counts &&
         (cause == Cause::kCode || cause == Cause::kUnknown);
}

void update_recovered(TrackedSeries& one) {
  for (SeriesChange& change : one.changes) change.recovered = is_recovered(one, change);
}

Tracked track(std::span<const RunSeries> series, const TrackOptions& options,
              std::span<const ChangeNote> notes, std::span<const Annotation> annotations,
              const DisturbancesOfRun& disturbances) {
  Tracked tracked;
  tracked.options = options;
  for (const RunSeries& one : series) {
    if (!is_trackable(one)) {
      tracked.left_out.push_back(fmt::format(
          "{}: {} is 0 or less in some runs, but changes are ratios", one.workload, one.metric));
      continue;
    }
    tracked.series.push_back(SeriesTracker(one, options, disturbances).tracked());
  }
  if (tracked.series.empty() && !tracked.left_out.empty()) {
    throw DataError(tracked.left_out.front());
  }
  correct_over_series(tracked);
  if (disturbances) judge_disturbances(tracked, disturbances);
  for (TrackedSeries& one : tracked.series) join_drifts(one);
  blame_canaries(tracked.series);
  tell_continuations(tracked.series);
  for (TrackedSeries& one : tracked.series) {
    apply_notes(one, notes);
    for (const Annotation& annotation : annotations) {
      if (annotation.series_key == one.series.key) one.annotations.push_back(annotation);
    }
  }
  return tracked;
}

int exit_status(const Tracked& tracked) {
  return std::any_of(tracked.series.begin(), tracked.series.end(),
                     [](const TrackedSeries& one) {
                       return std::any_of(
                           one.changes.begin(), one.changes.end(),
                           [](const SeriesChange& change) { return change.fails(); });
                     })
             ? 1
             : 0;
}

}  // namespace bench::results
