#include "results/track/tracking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/stats/change_points.h"
#include "results/track/causes.h"
#include "results/track/test/made_series.h"

namespace bench::results {
namespace {

using stats::ChangeVerdict;

Tracked tracked_of(const std::vector<MadeSeries>& made, const std::vector<ChangeNote>& notes = {},
                   const TrackOptions& options = {}) {
  std::vector<RunSeries> series;
  for (const MadeSeries& one : made) series.push_back(made_series(one));
  return track(series, options, notes, {});
}

TEST(Track, FindsThePointOfARegressionAndFails) {
  const Tracked tracked = tracked_of({{.steps = {{30, 0.96}}}});
  ASSERT_EQ(tracked.series[0].changes.size(), 1);
  const SeriesChange& change = tracked.series[0].changes[0];
  EXPECT_NEAR(static_cast<double>(change.at), 30, 1);
  EXPECT_EQ(change.verdict, ChangeVerdict::kRegressed);
  EXPECT_EQ(change.cause, Cause::kCode);
  EXPECT_TRUE(change.fails());
  EXPECT_EQ(tracked.series[0].segments.size(), 2);
  EXPECT_EQ(exit_status(tracked), 1);
}

TEST(Track, AnImprovementDoesNotFail) {
  const Tracked tracked = tracked_of({{.steps = {{30, 1.05}}}});
  EXPECT_EQ(tracked.series[0].changes[0].verdict, ChangeVerdict::kImproved);
  EXPECT_EQ(exit_status(tracked), 0);
  const Tracked slower = tracked_of({{.steps = {{30, 1.05}}, .better = Better::kLower}});
  EXPECT_EQ(slower.series[0].changes[0].verdict, ChangeVerdict::kRegressed);
}

TEST(Track, AChangeWithinOneRevisionIsTheEnvironment) {
  const Tracked tracked = tracked_of({{.steps = {{30, 0.95}}, .one_revision = true}});
  EXPECT_EQ(tracked.series[0].changes[0].cause, Cause::kEnvironment);
  EXPECT_EQ(exit_status(tracked), 0);
}

TEST(Track, AChangeOfTheCanaryIsTheEnvironment) {
  const MadeSeries canary{.steps = {{31, 0.95}}, .seed = 2, .canary = true, .one_revision = true};
  Tracked tracked = tracked_of({{.steps = {{30, 0.95}}}, canary});
  EXPECT_EQ(tracked.series[0].changes[0].cause, Cause::kCanary);
  EXPECT_EQ(exit_status(tracked), 0);
  MadeSeries elsewhere = canary;
  elsewhere.machine = "node8";
  EXPECT_EQ(exit_status(tracked_of({{.steps = {{30, 0.95}}}, elsewhere})), 1);
}

TEST(Track, ASingleOddPointIsSuspectASecondConfirms) {
  const Tracked first = tracked_of({{.steps = {{59, 0.93}}}});
  EXPECT_EQ(first.series[0].newest_state, NewestState::kSuspect);
  EXPECT_TRUE(first.series[0].changes.empty());
  EXPECT_EQ(exit_status(first), 0);
  const Tracked second = tracked_of({{.steps = {{58, 0.93}}}});
  EXPECT_EQ(second.series[0].newest_state, NewestState::kConfirmed);
  ASSERT_EQ(second.series[0].changes.size(), 1);
  EXPECT_EQ(second.series[0].changes[0].by, FoundBy::kTwoPoints);
  EXPECT_EQ(second.series[0].changes[0].at, 58);
  EXPECT_EQ(exit_status(second), 1);
}

TEST(Track, ARegressionThatWasRepairedDoesNotFail) {
  const Tracked tracked = tracked_of({{.points = 80, .steps = {{30, 0.95}, {50, 1 / 0.95}}}});
  ASSERT_EQ(tracked.series[0].changes.size(), 2);
  EXPECT_TRUE(tracked.series[0].changes[0].recovered);
  EXPECT_EQ(exit_status(tracked), 0);
}

TEST(Track, AHalfRepairedRegressionStillFails) {
  const Tracked tracked = tracked_of({{.points = 80, .steps = {{30, 0.90}, {50, 1.05}}}});
  EXPECT_FALSE(tracked.series[0].changes[0].recovered);
  EXPECT_EQ(exit_status(tracked), 1);
}

TEST(Track, AnAcknowledgedChangeDoesNotFailEvenIfItMovesByAPoint) {
  const MadeSeries made{.steps = {{30, 0.95}}};
  const RunSeries series = made_series(made);
  ChangeNote note{.series_key = series.key,
                  .at_run = series.points[32].run_ids[0],
                  .effect = -0.05,
                  .state = "ack",
                  .note = "wanted"};
  const Tracked tracked = tracked_of({made}, {note});
  EXPECT_EQ(tracked.series[0].changes[0].state, "ack");
  EXPECT_EQ(tracked.series[0].changes[0].note, "wanted");
  EXPECT_EQ(exit_status(tracked), 0);
  note.effect = 0.05;
  EXPECT_EQ(exit_status(tracked_of({made}, {note})), 1) << "of a change the other way";
  note.effect = -0.05;
  note.state = "new";
  EXPECT_EQ(exit_status(tracked_of({made}, {note})), 1);
  EXPECT_TRUE(tracked_of({made}, {note}).series[0].changes[0].known);
}

ChangeNote made_note(const RunSeries& series, std::size_t point, const std::string& state,
                     double effect = -0.05) {
  return {.series_key = series.key,
          .at_run = series.points[point].run_ids[0],
          .effect = effect,
          .state = state};
}

TEST(Track, AUsersNoteOverridesARememberedOne) {
  const MadeSeries made{.steps = {{30, 0.95}}};
  const RunSeries series = made_series(made);
  for (const std::size_t said : {28, 32}) {
    const ChangeNote ack = made_note(series, said, "ack");
    const ChangeNote seen = made_note(series, 30, "new");
    for (const auto& notes : {std::vector{ack, seen}, std::vector{seen, ack}}) {
      const SeriesChange change = tracked_of({made}, notes).series[0].changes[0];
      EXPECT_EQ(change.state, "ack") << said;
      EXPECT_EQ(change.noted_at.size(), 2);
    }
  }
  const std::vector far_and_near = {made_note(series, 31, "env"), made_note(series, 33, "noise")};
  EXPECT_EQ(tracked_of({made}, far_and_near).series[0].changes[0].state, "env");
}

TEST(Track, ANoteOnASmallChangeExcludesLargeOnes) {
  const MadeSeries made{.steps = {{30, 0.80}}};
  const RunSeries series = made_series(made);
  EXPECT_EQ(exit_status(tracked_of({made}, {made_note(series, 28, "ack", -0.01)})), 1);
  EXPECT_EQ(exit_status(tracked_of({made}, {made_note(series, 28, "ack", -0.15)})), 0);
}

TEST(Track, SinceIgnoresEarlierChanges) {
  const MadeSeries made{.steps = {{30, 0.95}}};
  EXPECT_EQ(exit_status(tracked_of({made}, {}, {.since_ms = kFirstPointMs + 40 * kPointMs})), 0);
  EXPECT_EQ(exit_status(tracked_of({made}, {}, {.since_ms = kFirstPointMs + 20 * kPointMs})), 1);
}

TEST(Track, DriftIsReportedAndDoesNotFail) {
  const Tracked tracked = tracked_of({{.points = 120, .drift = -0.0005}});
  ASSERT_EQ(tracked.series[0].changes.size(), 1) << "one slide is one change";
  EXPECT_TRUE(tracked.series[0].changes[0].drift);
  EXPECT_NEAR(tracked.series[0].changes[0].shift.estimate, -0.06, 0.015);
  EXPECT_EQ(exit_status(tracked), 0);
}

TEST(Track, TheNoiseOfASeriesIsTheLeastThatMatters) {
  const Tracked tracked = tracked_of({{.cv = 0.03}});
  EXPECT_NEAR(*tracked.series[0].noise, 0.03, 0.01);
  EXPECT_EQ(tracked.series[0].margin, *tracked.series[0].noise);
}

TEST(Track, AShortSeriesCollectsABaseline) {
  const Tracked tracked = tracked_of({{.points = 6}});
  EXPECT_EQ(tracked.series[0].newest_state, NewestState::kUnknown);
  EXPECT_EQ(tracked.series[0].newest_why, "collecting a baseline: point 6 of 8");
  EXPECT_EQ(tracked_of({{.points = 8}}).series[0].newest_why,
            "collecting a baseline: point 8 of 8");
  EXPECT_EQ(tracked_of({{.points = 9}}).series[0].newest_state, NewestState::kQuiet);
  EXPECT_NO_THROW(tracked_of({{.points = 1}}));
}

TEST(Track, NamesTheMachineThatContinuesASeries) {
  RunSeries before = made_series({});
  RunSeries after = made_series({.machine = "node8", .seed = 4});
  for (SeriesPoint& point : after.points) {
    point.start_ms += 100 * kPointMs;
    point.value *= 1.5;
  }
  const std::vector<RunSeries> both = {before, after};
  const Tracked tracked = track(both, {}, {}, {});
  EXPECT_EQ(tracked.series[0].continues.substr(0, 26), "on node8 from 2025-04-11, ");
  EXPECT_TRUE(tracked.series[1].continues.empty());
  EXPECT_EQ(exit_status(tracked), 0);
}

TEST(Track, SkipsSeriesWithoutRatiosAndRefusesNothingElse) {
  RunSeries bad = made_series({.workload = "bad"});
  bad.points[3].value = 0;
  const RunSeries good = made_series({.steps = {{30, 0.95}}});
  const Tracked tracked = track(std::vector<RunSeries>{bad, good}, {}, {}, {});
  ASSERT_EQ(tracked.series.size(), 1);
  EXPECT_EQ(tracked.series[0].series.workload, good.workload);
  ASSERT_EQ(tracked.left_out.size(), 1);
  EXPECT_EQ(tracked.left_out[0].substr(0, 35), "bad: images_per_sec is 0 or less in");
  EXPECT_EQ(exit_status(tracked), 1);
  EXPECT_THROW(track(std::vector<RunSeries>{bad}, {}, {}, {}), DataError);
}

TEST(Track, TheSmallerOfTwoProbabilitiesCountsTwice) {
  const RunSeries series = made_series({.steps = {{30, 0.95}}});
  const Tracked tracked = track(std::vector<RunSeries>{series}, {}, {}, {});
  std::vector<double> logs;
  for (const SeriesPoint& point : series.points) logs.push_back(std::log(point.value));
  const auto points = stats::change_points(
      logs, {.margin = tracked.series[0].margin, .seed = hash_name(series.key)});
  ASSERT_EQ(points.size(), 1);
  EXPECT_DOUBLE_EQ(tracked.series[0].changes[0].p, 2 * std::min(points[0].p, points[0].p_step));
}

TEST(Causes, TheEnvironmentIsBlamedOnlyFarFromANewRevision) {
  TrackedSeries one{.series = made_series({.points = 20, .one_revision = true})};
  for (std::size_t i = 0; i < 20; ++i) one.judged.push_back(i);
  EXPECT_EQ(cause_by_revisions(one, 10), Cause::kEnvironment);
  for (std::size_t i = 12; i < 20; ++i) one.series.points[i].git_rev = "next";
  EXPECT_EQ(cause_by_revisions(one, 10), Cause::kCode) << "two runs off";
  EXPECT_EQ(cause_by_revisions(one, 7), Cause::kEnvironment);
  one.series.points[9].git_rev = "";
  EXPECT_EQ(cause_by_revisions(one, 10), Cause::kUnknown);
}

}  // namespace
}  // namespace bench::results
