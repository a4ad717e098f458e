#pragma once

#include <cstddef>
#include <cstdint>
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
  std::size_t least_segment = 5;  ///< Nights that a level must last to be a change point.
  double alpha = 0.05;            ///< Of intervals, and of the correction over all series.
  std::int64_t since_ms = 0;      ///< Changes before this do not count.
};

/// A stretch of nights at one level.
struct Segment {
  std::size_t begin = 0;
  std::size_t end = 0;
  stats::GroupSummary summary{};
};

enum class FoundBy { kChangePoint, kTwoNights, kRerun };
enum class Cause {
  kCode,         ///< The revisions before and after differ.
  kEnvironment,  ///< They do not.
  kCanary,       ///< A frozen program changed with it.
  kUnknown,      ///< The records tell no revision.
};
std::string_view name_of(FoundBy by);
std::string_view name_of(Cause cause);

/// A night from which on a series was at another level.
struct SeriesChange {
  std::string id{};    ///< By which --ack knows it: the start of the first run's.
  std::size_t at = 0;  ///< The first night of the new level.
  FoundBy by = FoundBy::kChangePoint;
  double p = 1;
  double q = 1;  ///< Corrected for the number of series.
  stats::Shift shift{};
  bool drift = false;  ///< A slide over many nights rather than a step.
  stats::ChangeVerdict verdict = stats::ChangeVerdict::kInconclusive;
  Cause cause = Cause::kUnknown;
  std::string state = "new";  ///< Or ack, fixed, env, noise, as somebody said.
  std::string note{};
  std::vector<std::string> noted_at{};  ///< ChangeNote::at_run of all notes on this change.
  bool known = false;                   ///< The store has it since an earlier run.
  bool recovered = false;               ///< The series is back at its level since.
  bool counts = true;                   ///< Not before TrackOptions::since_ms.
  std::vector<EnvironmentDifference> environment{};

  /// A confirmed regression that stands, that nobody has spoken on, and that may be the code's.
  [[nodiscard]] bool fails() const;
};

enum class NewestState { kUnknown, kQuiet, kSuspect, kConfirmed, kCleared };
std::string_view name_of(NewestState state);

struct TrackedSeries {
  NightlySeries series{};
  std::optional<double> noise{};  ///< From night to night, relative.
  double margin = 0.01;           ///< The larger of the options' and the noise.
  std::vector<Segment> segments{};
  std::vector<SeriesChange> changes{};
  NewestState newest_state = NewestState::kUnknown;
  std::optional<stats::NewestPoint> newest{};
  std::string newest_why{};  ///< Of kUnknown and kCleared; of kSuspect where a rerun failed.
  std::vector<Annotation> annotations{};
  std::string
      continues{};  ///< "on MACHINE from DATE, +12%", where the work moved to another machine.
};

struct Tracked {
  TrackOptions options{};
  std::vector<TrackedSeries> series{};
  std::vector<std::string> left_out{};  ///< Series that cannot be followed: which and why, each.
};

/// Finds change points, judges the newest nights, gives each change its cause and state. The newest
/// night that lies far outside is `suspect`; with a second one behind it the change is confirmed.
/// A series with a value of 0 or less is left out. Throws DataError where none is left.
Tracked track(std::span<const NightlySeries> series, const TrackOptions& options,
              std::span<const ChangeNote> notes, std::span<const Annotation> annotations);

/// 1 where a change fails, else 0.
int exit_status(const Tracked& tracked);

}  // namespace bench::results
