#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/compare/differences.h"
#include "results/stats/group_summary.h"
#include "results/stats/newest_point.h"
#include "results/stats/verdict.h"
#include "results/store/store.h"
#include "results/track/series.h"

namespace bench::results {

struct TrackOptions {
  double margin = 0.01;           ///< The smallest relative change that matters.
  std::size_t least_segment = 5;  ///< Fewest runs of a level that makes a change point.
  double alpha = 0.05;            ///< For intervals, and for the correction over all series.
  std::int64_t since_ms = 0;      ///< Changes before this do not count.
  bool trust_disturbed = false;   ///< Judge disturbed runs of a rerun like others.
};

/// A range of runs at one level.
struct Segment {
  std::size_t begin = 0;
  std::size_t end = 0;
  stats::GroupSummary summary{};
};

enum class FoundBy { kChangePoint, kTwoPoints, kRerun };
enum class Cause {
  kCode,         ///< The revisions before and after differ.
  kEnvironment,  ///< The revisions are the same.
  kCanary,       ///< A frozen program changed with it.
  kUnknown,      ///< The records have no revision.
};
std::string_view name_of(FoundBy by);
std::string_view name_of(Cause cause);

/// A change of a series to another level.
struct SeriesChange {
  std::string id{};           ///< Argument of --ack: the start of the first run's id.
  std::size_t at = 0;         ///< The first run of the new level.
  std::size_t last_good = 0;  ///< The last judged run before it.
  FoundBy by = FoundBy::kChangePoint;
  double p = 1;
  double q = 1;  ///< Corrected for the number of series.
  stats::Shift shift{};
  bool drift = false;  ///< A slide over many runs instead of a step.
  stats::ChangeVerdict verdict = stats::ChangeVerdict::kInconclusive;
  Cause cause = Cause::kUnknown;
  std::string state = "new";  ///< Or ack, fixed, env, noise, from a note.
  std::string note{};
  std::vector<std::string> noted_at{};  ///< ChangeNote::at_run of all notes on this change.
  bool known = false;                   ///< In the store since an earlier run of track.
  bool recovered = false;               ///< The series has returned to its level.
  bool counts = true;                   ///< At or after TrackOptions::since_ms.
  std::vector<EnvironmentDifference> environment{};

  /// True for a confirmed regression that still holds, is not acknowledged, and may be the code's.
  [[nodiscard]] bool fails() const;
};

/// kUnknown: the level has too few runs to judge the newest one.
enum class NewestState { kUnknown, kQuiet, kSuspect, kConfirmed, kCleared, kDisturbed };
std::string_view name_of(NewestState state);

struct TrackedSeries {
  RunSeries series{};
  std::optional<double> noise{};  ///< From one run to the next, relative.
  double margin = 0.01;           ///< The larger of the options' and the noise.
  /// The points that are judged, in order: without those of disturbed runs far from the others.
  /// Never empty.
  std::vector<std::size_t> judged{};
  std::vector<Segment> segments{};
  std::vector<SeriesChange> changes{};
  NewestState newest_state = NewestState::kUnknown;
  std::optional<stats::NewestPoint> newest{};
  /// For kUnknown, kCleared and kDisturbed; for kSuspect if a rerun failed or the run was
  /// disturbed.
  std::string newest_why{};
  bool newest_disturbed = false;  ///< Set only for an odd newest run.
  std::vector<Annotation> annotations{};
  std::string
      continues{};  ///< "on MACHINE from DATE, +12%", if the workload moved to another machine.
};

struct Tracked {
  TrackOptions options{};
  std::vector<TrackedSeries> series{};
  std::vector<std::string> left_out{};  ///< Series that cannot be tracked: which and why, each.
};

/// What disturbed the run with this id; empty if nothing is known.
using DisturbancesOfRun = std::function<std::vector<std::string>(const std::string& run_id)>;

/// Finds change points, judges the newest runs, and gives each change its cause and state. A newest
/// run far outside is `suspect`; a second one after it confirms the change. Omits a series with a
/// value of 0 or less. Without `disturbances`, disturbed runs are judged like others. Throws
/// DataError if all series are omitted.
Tracked track(std::span<const RunSeries> series, const TrackOptions& options,
              std::span<const ChangeNote> notes, std::span<const Annotation> annotations,
              const DisturbancesOfRun& disturbances = nullptr);

/// Sets SeriesChange::recovered of all changes. Ignores levels that begin at a disturbed change.
void update_recovered(TrackedSeries& one);

/// 1 if a change fails, else 0.
int exit_status(const Tracked& tracked);

}  // namespace bench::results
