#include <map>
#include <string_view>
#include <vector>

#include <algorithm>
#include "models/base/errors.h"
#include "results/compare/number_text.h"
#include "results/track/causes.h"
#include "results/track/forms.h"

namespace bench::results {
namespace {

using stats::ChangeVerdict;

std::string effect_text(const stats::Shift& shift) {
  const std::string change = change_text(stats::relative_change(shift.estimate));
  if (!shift.interval) return change;
  const stats::Interval ends = stats::relative_change(*shift.interval);
  return fmt::format("{} [{},{}]", change, change_text(ends.low), change_text(ends.high));
}

std::string verdict_word(const SeriesChange& change) {
  if (change.drift && change.verdict != ChangeVerdict::kDisturbed) {
    return fmt::format("{} by drift, over many runs", stats::name_of(change.verdict));
  }
  if (change.verdict == ChangeVerdict::kInconclusive) return "not significant among all series";
  if (change.verdict == ChangeVerdict::kDisturbed) {
    return "disturbed (measure again, or use compare --run)";
  }
  return change.fails() ? "REGRESSED" : std::string(stats::name_of(change.verdict));
}

std::string cause_word(const SeriesChange& change) {
  switch (change.cause) {
    case Cause::kCode:
      return "";
    case Cause::kEnvironment:
      return ", environment: the revision is the same";
    case Cause::kCanary:
      return ", environment: the canary changed too";
    case Cause::kUnknown:
      return ", revisions unknown";
  }
  throw InternalError("unnamed Cause");
}

std::string how_word(const SeriesChange& change) {
  switch (change.by) {
    case FoundBy::kChangePoint:
      return "";
    case FoundBy::kTwoPoints:
      return ", confirmed by the next run";
    case FoundBy::kRerun:
      return ", confirmed by a rerun";
  }
  throw InternalError("unnamed FoundBy");
}

std::string short_revision(const std::string& revision) {
  constexpr std::size_t kShort = 10;
  return revision.empty() ? "?" : revision.substr(0, kShort);
}

std::string state_word(const SeriesChange& change) {
  std::string text = change.recovered ? ", recovered since" : "";
  if (change.state != "new") text += ", " + change.state;
  if (!change.note.empty()) text += fmt::format(" ({})", change.note);
  return text;
}

struct Told {
  std::vector<std::string> fresh{};  ///< Regressions that fail and that are not in the store.
  std::vector<std::string> open{};   ///< Regressions that fail and that are in the store.
  std::vector<std::string> better{};
  std::vector<std::string> machine{};
  std::vector<std::string> drift{};
  std::vector<std::string> suspect{};
  std::map<std::string, std::size_t> not_judged{};  ///< Number of series by the reason.
  std::vector<std::string> disturbed{};
};

/// "resnet50 train bs64 f32 (canary)".
std::string workload_name(const RunSeries& series) {
  return series.canary ? series.workload + " (canary)" : series.workload;
}

/// "resnet50 train bs64 f32 -3.1% since 2026-01-31 (id 4f2a91c03b)".
std::string mention(const TrackedSeries& one, const SeriesChange& change) {
  return fmt::format("{} {} since {} (id {})", workload_name(one.series),
                     change_text(stats::relative_change(change.shift.estimate)),
                     date_text(one.series.points[change.at].start_ms), change.id);
}

/// "resnet50 train bs64 f32 -3.1%".
std::string newest_mention(const TrackedSeries& one) {
  return fmt::format("{} {}", workload_name(one.series),
                     change_text(stats::relative_change(one.newest->log_ratio)));
}

bool is_machines(const SeriesChange& change) {
  return change.cause == Cause::kEnvironment || change.cause == Cause::kCanary;
}

void tell(const TrackedSeries& one, const SeriesChange& change, Told& told) {
  if (!is_open(change)) return;
  const std::string text = mention(one, change);
  if (change.verdict == ChangeVerdict::kDisturbed) {
    told.disturbed.push_back(text);
  } else if (change.fails()) {
    (change.known ? told.open : told.fresh).push_back(text);
  } else if (change.drift) {
    told.drift.push_back(text);
  } else if (is_machines(change)) {
    told.machine.push_back(text);
  } else if (is_news(change)) {
    told.better.push_back(text);
  }
}

Told told_of(const Tracked& tracked) {
  Told told;
  for (const TrackedSeries& one : tracked.series) {
    const bool judged =
        std::none_of(one.changes.begin(), one.changes.end(),
                     [](const auto& change) { return change.by == FoundBy::kTwoPoints; });
    for (const SeriesChange& change : one.changes) tell(one, change, told);
    if (one.newest_state == NewestState::kSuspect) told.suspect.push_back(newest_mention(one));
    if (one.newest_state == NewestState::kDisturbed && judged) {
      told.disturbed.push_back(newest_mention(one) + " in the newest run");
    }
    if (one.newest_state == NewestState::kUnknown) ++told.not_judged[one.newest_why];
  }
  return told;
}

}  // namespace

bool is_open(const SeriesChange& change) {
  return change.state == "new" && change.counts && !change.recovered &&
         change.verdict != ChangeVerdict::kInconclusive;
}

bool is_news(const SeriesChange& change) {
  if (!is_open(change) || change.known) return false;
  const bool improved =
      change.verdict == ChangeVerdict::kImproved && !change.drift && !is_machines(change);
  return change.fails() || improved;
}

std::string title_of(const RunSeries& series) {
  const std::string name = workload_name(series);
  if (series.machine.empty()) return fmt::format("{}, {}", name, series.metric);
  return fmt::format("{} on {}, {}", name, series.machine, series.metric);
}

std::vector<std::string> difference_lines(const SeriesChange& change) {
  constexpr std::size_t kShown = 5;
  const std::vector<EnvironmentDifference>& all = change.environment;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i) {
    lines.push_back("differs: " + text_of(all[i]));
  }
  if (all.size() > kShown) {
    lines.push_back(
        fmt::format("{} more differ; --format=html and json list them", all.size() - kShown));
  }
  return lines;
}

std::string change_line(const TrackedSeries& tracked, const SeriesChange& change) {
  const std::vector<SeriesPoint>& points = tracked.series.points;
  return fmt::format("{} {} p{} q{} {} (id {}), revisions {}..{}{}{}{}",
                     date_text(points[change.at].start_ms), effect_text(change.shift),
                     probability_text(change.p), probability_text(change.q), verdict_word(change),
                     change.id, short_revision(points[change.last_good].git_rev),
                     short_revision(points[change.at].git_rev), cause_word(change),
                     how_word(change), state_word(change));
}

std::string newest_line(const TrackedSeries& tracked) {
  const std::string date = date_text(tracked.series.points.back().start_ms);
  if (!tracked.newest) return fmt::format("{}: not judged, {}", date, tracked.newest_why);
  const std::string judged = fmt::format(
      "{} {}, z {} of {}: {}", date, change_text(stats::relative_change(tracked.newest->log_ratio)),
      number_text(tracked.newest->z), number_text(tracked.newest->limit),
      name_of(tracked.newest_state));
  if (tracked.newest_why.empty()) return judged;
  return fmt::format("{}, {}", judged, tracked.newest_why);
}

std::string summary(const Tracked& tracked) {
  const Told told = told_of(tracked);
  return fmt::format("{} series: {} new regressions, {} known and open, {} new improvements.",
                     tracked.series.size(), told.fresh.size(), told.open.size(),
                     told.better.size());
}

std::vector<std::string> news_lines(const Tracked& tracked) {
  const Told told = told_of(tracked);
  std::vector<std::string> lines;
  const auto add = [&](std::string_view head, const std::vector<std::string>& list) {
    for (const std::string& text : list) lines.push_back(fmt::format("{}: {}", head, text));
  };
  add("Slower", told.fresh);
  add("Still slower", told.open);
  add("Faster", told.better);
  add("Not caused by the code, according to the revision or the canary", told.machine);
  add("Drifting", told.drift);
  add("Not judged, because the runs were disturbed", told.disturbed);
  add("Suspect in the newest run, not confirmed", told.suspect);
  for (const auto& [why, count] : told.not_judged) {
    lines.push_back(fmt::format("Not judged yet: {} series, {}", count, why));
  }
  return lines;
}

}  // namespace bench::results
