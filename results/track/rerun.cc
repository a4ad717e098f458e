#include "results/track/rerun.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <ostream>

#include "models/base/errors.h"
#include "results/compare/comparison.h"
#include "results/compare/interleaved.h"
#include "results/compare/number_text.h"
#include "results/store/members.h"
#include "results/track/causes.h"
#include "results/track/forms.h"

namespace bench::results {
namespace {

bool is_worse(const TrackedSeries& one) {
  return one.series.better != Better::kNone &&
         (one.newest->log_ratio < 0) == (one.series.better == Better::kHigher);
}

/// True if only the newest run is odd, and nothing confirms it.
bool is_undecided(const TrackedSeries& one) {
  if (one.newest_state == NewestState::kSuspect) return true;
  return one.newest_state == NewestState::kDisturbed &&
         std::none_of(one.changes.begin(), one.changes.end(),
                      [](const SeriesChange& change) { return change.by == FoundBy::kTwoPoints; });
}

/// The last judged run before the newest one.
std::size_t last_good(const TrackedSeries& one) {
  const auto newest =
      std::lower_bound(one.judged.begin(), one.judged.end(), one.series.points.size() - 1);
  return *std::prev(newest);
}

/// The flags that the user gave, except those that change only the output: a rerun sets these.
std::string flags_text(const nlohmann::json& record) {
  const nlohmann::json* given = member_at(record, "flags.given");
  if (given == nullptr || !given->is_object()) return "";
  const nlohmann::json* output = member_at(record, "flags.output");
  std::string text;
  for (const auto& [name, value] : given->items()) {
    if (output != nullptr && output->contains(name)) continue;
    const std::string plain = value.is_string() ? value.get<std::string>() : value.dump();
    if (!text.empty()) text += " ";
    text += fmt::format("--{}={}", name, shell_quoted(plain));
  }
  return text;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

void settle(TrackedSeries& one, const ComparisonRow& row) {
  if (row.verdict == stats::ChangeVerdict::kDisturbed) {
    one.newest_why = "one side of a rerun was disturbed";
    return;
  }
  if (row.verdict != stats::ChangeVerdict::kRegressed) {
    one.newest_state = NewestState::kCleared;
    one.newest_why = fmt::format("the result of a rerun is {}, {}", stats::name_of(row.verdict),
                                 shift_text(row));
    return;
  }
  const std::size_t at = one.series.points.size() - 1;
  one.newest_state = NewestState::kConfirmed;
  one.newest_why.clear();
  one.changes.push_back({.id = one.series.points[at].run_ids.front().substr(0, 10),
                         .at = at,
                         .last_good = last_good(one),
                         .by = FoundBy::kRerun,
                         .p = row.shift->p,
                         .q = row.q,
                         .shift = *row.shift,
                         .verdict = row.verdict,
                         .cause = Cause::kCode});
}

/// Runs the newest run's revision of a series in turn with the one before; returns the
/// signal that interrupted it, or 0.
int rerun(TrackedSeries& one, const RerunPlan& plan, const RecordOf& record_of,
          const TrackOptions& options) {
  const std::string& good = one.series.points[last_good(one)].git_rev;
  const std::string& bad = one.series.points.back().git_rev;
  const nlohmann::json record = record_of(one.series.points.back().run_ids.front());
  const InterleavedRuns runs =
      run_interleaved({.base = filled_command(plan.command, good, record),
                       .other = filled_command(plan.command, bad, record),
                       .pairs = plan.pairs,
                       .folder = plan.folder / one.series.key},
                      [](const InterleavedRuns&, const StoredRun&, bool) {});
  if (runs.interrupted_by != 0) return runs.interrupted_by;
  const Comparison comparison =
      compare({.name = good, .runs = runs.base}, {.name = bad, .runs = runs.other},
              {.margin = one.margin,
               .alpha = options.alpha,
               .paired = true,
               .trust_disturbed = options.trust_disturbed,
               .metrics = {one.series.metric}});
  settle(one, comparison.rows.front());
  return 0;
}

}  // namespace

std::string filled_command(const std::string& command, const std::string& revision,
                           const nlohmann::json& record) {
  if (command.find("{rev}") == std::string::npos) {
    throw UsageError(fmt::format(
        "--rerun-cmd={}: {{rev}} is missing; write it in place of the revision", command));
  }
  std::string filled = command;
  replace_all(filled, "{rev}", shell_quoted(revision));
  replace_all(filled, "{flags}", flags_text(record));
  return filled;
}

int rerun_suspects(Tracked& tracked, const RerunPlan& plan, const RecordOf& record_of,
                   std::ostream& err) {
  (void)filled_command(plan.command, "", {});
  for (TrackedSeries& one : tracked.series) {
    if (!is_undecided(one) || !one.newest->suspect || !is_worse(one)) continue;
    const std::string& good = one.series.points[last_good(one)].git_rev;
    const std::string& bad = one.series.points.back().git_rev;
    if (good.empty() || bad.empty() || good == bad) {
      const char* why = good == bad && !good.empty() ? "the revisions before and after are the same"
                                                     : "the revisions are unknown";
      err << fmt::format("{}: no rerun: {}\n", title_of(one.series), why);
      continue;
    }
    err << fmt::format("{}: rerunning {} in turn with {}\n", title_of(one.series), bad, good);
    const auto failed = [&](const std::exception& error) {
      one.newest_why = fmt::format("a rerun failed: {}", error.what());
      err << fmt::format("{}: {}\n", title_of(one.series), one.newest_why);
    };
    try {
      const int signal = rerun(one, plan, record_of, tracked.options);
      if (signal != 0) {
        one.newest_why = "the rerun was interrupted";
        return signal;
      }
    } catch (const DataError& error) {
      failed(error);
    } catch (const DeviceError& error) {
      failed(error);
    } catch (const std::filesystem::filesystem_error& error) {
      failed(error);
    }
  }
  return 0;
}

}  // namespace bench::results
