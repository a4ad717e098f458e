#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/compare/number_text.h"
#include "results/track/causes.h"
#include "results/track/forms.h"

namespace bench::results {
namespace {

bool has_news(const TrackedSeries& one) {
  return !one.changes.empty() || one.newest_state == NewestState::kSuspect ||
         one.newest_state == NewestState::kDisturbed || one.newest_state == NewestState::kCleared ||
         !one.annotations.empty() || !one.continues.empty();
}

std::string runs_text(std::size_t count) {
  return count == 1 ? "1 run" : fmt::format("{} runs", count);
}

std::string head_of(const TrackedSeries& one) {
  const std::vector<SeriesPoint>& points = one.series.points;
  const std::size_t disturbed = points.size() - one.judged.size();
  const std::string head = fmt::format(
      "{} [{}]: {}{}, {} to {}", title_of(one.series), one.series.unit, runs_text(points.size()),
      disturbed > 0 ? fmt::format(" ({} disturbed and not judged)", disturbed) : "",
      date_text(points.front().start_ms), date_text(points.back().start_ms));
  const std::string margin = change_text(one.margin).substr(1);
  if (!one.noise) return fmt::format("{}, ±{} matters", head, margin);
  return fmt::format("{}, noise {}, ±{} matters", head, change_text(*one.noise).substr(1), margin);
}

/// A pause of more than a week before a run, or an empty text.
std::string gap_before(const TrackedSeries& one, std::size_t point) {
  constexpr std::int64_t kMsOfADay = 86'400'000;
  if (point == 0) return "";
  const std::int64_t days =
      (one.series.points[point].start_ms - one.series.points[point - 1].start_ms) / kMsOfADay;
  return days > 7 ? fmt::format(" ({} days without a run before it)", days) : "";
}

void print_series(std::ostream& out, const TrackedSeries& one) {
  out << printable(head_of(one)) << "\n";
  for (const Segment& segment : one.segments) {
    out << "  level   " << date_text(one.series.points[segment.begin].start_ms) << "  "
        << summary_text(segment.summary) << "  " << runs_text(segment.summary.n) << "\n";
  }
  for (const SeriesChange& change : one.changes) {
    out << "  CHANGE  " << printable(change_line(one, change)) << gap_before(one, change.at)
        << "\n";
    for (const std::string& line : difference_lines(change)) {
      out << "          " << printable(line) << "\n";
    }
  }
  out << "  newest  " << printable(newest_line(one)) << "\n";
  if (!one.continues.empty()) out << "  then    " << printable(one.continues) << "\n";
  for (const Annotation& annotation : one.annotations) {
    out << "  note    "
        << printable(fmt::format("{}: {}", annotation.run.substr(0, 10), annotation.text)) << "\n";
  }
}

}  // namespace

void print_text(std::ostream& out, const Tracked& tracked, bool all) {
  for (const TrackedSeries& one : tracked.series) {
    if (all || has_news(one)) print_series(out, one);
  }
  for (const std::string& line : news_lines(tracked)) out << printable(line) << "\n";
  out << printable(summary(tracked)) << "\n";
}

}  // namespace bench::results
