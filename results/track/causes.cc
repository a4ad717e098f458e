#include "results/track/causes.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "models/base/errors.h"
#include "results/compare/number_text.h"
#include "results/record/identity.h"

namespace bench::results {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
/// A change of twice the noise is located to about three days, and so is the canary's.
constexpr std::int64_t kNear = 5 * kDayMs + kDayMs / 2;

bool same_direction(const SeriesChange& a, const SeriesChange& b) {
  return (a.shift.estimate < 0) == (b.shift.estimate < 0);
}

/// True if the canary shows that the machine caused the change.
bool is_shared(const TrackedSeries& canary, const TrackedSeries& one, const SeriesChange& change) {
  const std::int64_t when = one.series.points[change.at].start_ms;
  const bool by_change =
      std::any_of(canary.changes.begin(), canary.changes.end(), [&](const SeriesChange& other) {
        if (other.verdict == stats::ChangeVerdict::kDisturbed ||
            other.verdict == stats::ChangeVerdict::kInconclusive) {
          return false;
        }
        const std::int64_t apart = canary.series.points[other.at].start_ms - when;
        return same_direction(change, other) && std::abs(apart) <= kNear;
      });
  if (by_change || change.by == FoundBy::kChangePoint || !canary.newest) return by_change;
  return canary.newest->suspect && !canary.newest_disturbed &&
         (canary.newest->log_ratio < 0) == (change.shift.estimate < 0);
}

bool same_machine(const RunSeries& a, const RunSeries& b) {
  return a.machine_key == b.machine_key && a.metric == b.metric;
}

/// The series that continues where `ended` stops: the earliest that begins after it.
const TrackedSeries* continuation_of(const TrackedSeries& ended,
                                     const std::vector<TrackedSeries>& all) {
  const std::int64_t end = ended.series.points.back().start_ms;
  const TrackedSeries* next = nullptr;
  for (const TrackedSeries& other : all) {
    const bool same_workload = other.series.workload_key == ended.series.workload_key &&
                               other.series.metric == ended.series.metric &&
                               other.series.canary == ended.series.canary;
    if (!same_workload || other.series.points.front().start_ms <= end) continue;
    if (next == nullptr ||
        other.series.points.front().start_ms < next->series.points.front().start_ms) {
      next = &other;
    }
  }
  return next;
}

}  // namespace

Cause cause_by_revisions(const TrackedSeries& one, std::size_t at) {
  constexpr std::size_t kAround = 3;
  const std::vector<std::size_t>& judged = one.judged;
  const auto place =
      static_cast<std::size_t>(std::lower_bound(judged.begin(), judged.end(), at) - judged.begin());
  const std::size_t first = judged[place > kAround ? place - kAround : 0];
  const std::size_t last = judged[std::min(judged.size(), place + kAround) - 1];
  std::set<std::string> revisions;
  for (std::size_t i = first; i <= last; ++i) {
    const std::string& revision = one.series.points[i].git_rev;
    if (revision.empty()) return Cause::kUnknown;
    revisions.insert(revision);
  }
  return revisions.size() == 1 ? Cause::kEnvironment : Cause::kCode;
}

void blame_canaries(std::vector<TrackedSeries>& all) {
  for (TrackedSeries& one : all) {
    if (one.series.canary) continue;
    for (SeriesChange& change : one.changes) {
      const bool shared = std::any_of(all.begin(), all.end(), [&](const TrackedSeries& other) {
        return other.series.canary && same_machine(other.series, one.series) &&
               is_shared(other, one, change);
      });
      if (shared) change.cause = Cause::kCanary;
    }
  }
}

void tell_continuations(std::vector<TrackedSeries>& all) {
  for (TrackedSeries& one : all) {
    const TrackedSeries* next = continuation_of(one, all);
    if (next == nullptr) continue;
    const double ratio =
        next->segments.front().summary.median / one.segments.back().summary.median - 1;
    one.continues =
        fmt::format("on {} from {}, {}", next->series.machine,
                    date_text(next->series.points.front().start_ms), change_text(ratio));
  }
}

std::string date_text(std::int64_t ms) {
  constexpr std::size_t kDate = 10;
  return utc_text(std::chrono::system_clock::time_point(std::chrono::milliseconds(ms)))
      .substr(0, kDate);
}

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::kCode:
      return "code";
    case Cause::kEnvironment:
      return "environment";
    case Cause::kCanary:
      return "canary";
    case Cause::kUnknown:
      return "unknown";
  }
  throw InternalError("unnamed Cause");
}

}  // namespace bench::results
