#include <algorithm>
#include <vector>

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
  return cat(change, " [", change_text(ends.low), ",", change_text(ends.high), "]");
}

std::string verdict_word(const SeriesChange& change) {
  if (change.drift) return cat(stats::name_of(change.verdict), " by drift, over many nights");
  if (change.verdict == ChangeVerdict::kInconclusive) return "not among so many series";
  return change.fails() ? "REGRESSED" : std::string(stats::name_of(change.verdict));
}

std::string cause_word(const SeriesChange& change) {
  switch (change.cause) {
    case Cause::kCode:
      return "";
    case Cause::kEnvironment:
      return ", the revision is the same: environment";
    case Cause::kCanary:
      return ", the canary changed too: environment";
    case Cause::kUnknown:
      return ", revisions unknown";
  }
  throw InternalError("a cause without a word");
}

std::string how_word(const SeriesChange& change) {
  switch (change.by) {
    case FoundBy::kChangePoint:
      return "";
    case FoundBy::kTwoNights:
      return ", confirmed by the next night";
    case FoundBy::kRerun:
      return ", confirmed by a rerun";
  }
  throw InternalError("a way of finding without a word");
}

std::string short_revision(const std::string& revision) {
  constexpr std::size_t kShort = 10;
  return revision.empty() ? "?" : revision.substr(0, kShort);
}

std::string state_word(const SeriesChange& change) {
  std::string text = change.recovered ? ", recovered since" : "";
  if (change.state != "new") text = cat(text, ", ", change.state);
  if (!change.note.empty()) text = cat(text, " (", change.note, ")");
  return text;
}

struct Told {
  std::vector<std::string> fresh{};  ///< Regressions that fail and that are not in the store.
  std::vector<std::string> open{};   ///< Regressions that fail and that are in the store.
  std::vector<std::string> better{};
  std::vector<std::string> machine{};
  std::vector<std::string> drift{};
  std::vector<std::string> suspect{};
};

/// "resnet50 train bs64 f32 -3.1% since 2026-01-31 (id 4f2a91c03b)".
std::string mention(const TrackedSeries& one, const SeriesChange& change) {
  return cat(one.series.workload, one.series.canary ? " (canary)" : "", " ",
             change_text(stats::relative_change(change.shift.estimate)), " since ",
             date_text(one.series.nights[change.at].start_ms), " (id ", change.id, ")");
}

bool is_open(const SeriesChange& change) {
  return change.state == "new" && change.counts && !change.recovered &&
         change.verdict != ChangeVerdict::kInconclusive;
}

bool is_machines(const SeriesChange& change) {
  return change.cause == Cause::kEnvironment || change.cause == Cause::kCanary;
}

void tell(const TrackedSeries& one, const SeriesChange& change, Told& told) {
  if (!is_open(change)) return;
  const std::string text = mention(one, change);
  if (change.fails()) {
    (change.known ? told.open : told.fresh).push_back(text);
  } else if (change.drift) {
    told.drift.push_back(text);
  } else if (is_machines(change)) {
    told.machine.push_back(text);
  } else if (is_news(change)) {
    told.better.push_back(text);
  }
}

void add_sentence(std::string& text, const std::string& head,
                  const std::vector<std::string>& list) {
  constexpr std::size_t kShown = 8;
  if (list.empty()) return;
  text += cat(" ", head, " ");
  for (std::size_t i = 0; i < std::min(kShown, list.size()); ++i) {
    text += cat(i == 0 ? "" : "; ", list[i]);
  }
  if (list.size() > kShown) text += cat("; and ", list.size() - kShown, " more");
  text += ".";
}

}  // namespace

bool is_news(const SeriesChange& change) {
  if (!is_open(change) || change.known) return false;
  const bool improved =
      change.verdict == ChangeVerdict::kImproved && !change.drift && !is_machines(change);
  return change.fails() || improved;
}

std::string title_of(const NightlySeries& series) {
  return cat(series.workload, series.canary ? " (canary)" : "",
             series.machine.empty() ? "" : " on ", series.machine, ", ", series.metric);
}

std::string change_line(const TrackedSeries& tracked, const SeriesChange& change) {
  const std::vector<Night>& nights = tracked.series.nights;
  return cat(date_text(nights[change.at].start_ms), " ", effect_text(change.shift), " p",
             probability_text(change.p), " q", probability_text(change.q), " ",
             verdict_word(change), " (id ", change.id, "), revisions ",
             short_revision(nights[change.at - 1].git_rev), "..",
             short_revision(nights[change.at].git_rev), cause_word(change), how_word(change),
             state_word(change));
}

std::string newest_line(const TrackedSeries& tracked) {
  const std::string date = date_text(tracked.series.nights.back().start_ms);
  if (!tracked.newest) return cat(date, ": not judged, ", tracked.newest_why);
  return cat(date, " ", change_text(stats::relative_change(tracked.newest->log_ratio)), ", z ",
             number_text(tracked.newest->z), " of ", number_text(tracked.newest->limit), ": ",
             name_of(tracked.newest_state), tracked.newest_why.empty() ? "" : ", ",
             tracked.newest_why);
}

std::string paragraph(const Tracked& tracked) {
  Told told;
  for (const TrackedSeries& one : tracked.series) {
    for (const SeriesChange& change : one.changes) tell(one, change, told);
    if (one.newest_state == NewestState::kSuspect) {
      told.suspect.push_back(cat(one.series.workload, one.series.canary ? " (canary)" : "", " ",
                                 change_text(stats::relative_change(one.newest->log_ratio))));
    }
  }
  std::string text =
      cat(tracked.series.size(), " series: ", told.fresh.size(), " new regressions, ",
          told.open.size(), " known and open, ", told.better.size(), " new improvements.");
  add_sentence(text, "Slower:", told.fresh);
  add_sentence(text, "Still slower:", told.open);
  add_sentence(text, "Faster:", told.better);
  add_sentence(text, "Not the code's, by the revision or the canary:", told.machine);
  add_sentence(text, "Drifting:", told.drift);
  add_sentence(text, "Odd in the newest night, to be confirmed:", told.suspect);
  return text;
}

}  // namespace bench::results
