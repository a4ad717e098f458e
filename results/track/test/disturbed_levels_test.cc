#include "results/track/disturbed_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>
#include <vector>

#include "results/track/forms.h"
#include "results/track/test/made_series.h"

namespace bench::results {
namespace {

using stats::ChangeVerdict;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Tracks all series. Other programs disturbed the runs of these points in the last one.
Tracked judged(const std::vector<RunSeries>& all, const std::set<std::size_t>& disturbed,
               const TrackOptions& options = {}, const std::vector<ChangeNote>& notes = {}) {
  std::set<std::string> runs;
  for (const std::size_t point : disturbed) runs.insert(all.back().points[point].run_ids.front());
  return track(all, options, notes, {}, [&](const std::string& run) {
    return runs.count(run) > 0 ? std::vector<std::string>{"other programs used the processors"}
                               : std::vector<std::string>();
  });
}

Tracked judged(const MadeSeries& made, const std::set<std::size_t>& disturbed) {
  return judged(std::vector<RunSeries>{made_series(made)}, disturbed);
}

std::set<std::size_t> range(std::size_t begin, std::size_t end) {
  std::set<std::size_t> points;
  for (std::size_t i = begin; i < end; ++i) points.insert(i);
  return points;
}

std::string junit_of(const Tracked& tracked) {
  std::ostringstream out;
  print_junit(out, tracked);
  return out.str();
}

TEST(DisturbedLevels, AreNoRegression) {
  const MadeSeries made{.steps = {{50, 0.8}}};
  EXPECT_EQ(exit_status(judged(made, {})), 1);
  const Tracked tracked = judged(made, range(50, 60));
  EXPECT_THAT(tracked.series[0].changes, IsEmpty());
  EXPECT_EQ(tracked.series[0].newest_state, NewestState::kDisturbed);
  EXPECT_EQ(exit_status(tracked), 0);
  EXPECT_THAT(summary(tracked), HasSubstr("0 new regressions"));
  EXPECT_THAT(news_lines(tracked),
              Contains(HasSubstr("Not judged, because the runs were disturbed: ")));
  EXPECT_THAT(junit_of(tracked), HasSubstr("failures=\"0\" skipped=\"1\""));
}

TEST(DisturbedLevels, OfAllRunsAreJudged) {
  RunSeries series = made_series({.points = 2});
  series.points[0].value = 100;
  series.points[1].value = 110;
  EXPECT_EQ(judged(std::vector<RunSeries>{series}, {0, 1}).series[0].judged.size(), 2);
}

TEST(DisturbedLevels, AreSoughtForTheRevisionThatChanged) {
  // The revision of the change was disturbed on its first three days.
  RunSeries series = made_series({.points = 40, .steps = {{20, 0.9}}});
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    series.points[i].git_rev = i < 20 ? "good" : "bad";
  }
  for (const std::size_t i : {20, 21, 22}) series.points[i].value *= 0.7;
  const Tracked tracked = judged(std::vector<RunSeries>{series}, {20, 21, 22});
  ASSERT_EQ(tracked.series[0].changes.size(), 1);
  EXPECT_EQ(tracked.series[0].changes[0].at, 23);
  EXPECT_EQ(tracked.series[0].changes[0].last_good, 19);
  EXPECT_EQ(tracked.series[0].changes[0].cause, Cause::kCode);
  EXPECT_EQ(exit_status(tracked), 1);
}

TEST(DisturbedLevels, DoNotShortenADrift) {
  RunSeries series = made_series({.points = 120, .cv = 0.002, .drift = -0.001});
  std::set<std::size_t> disturbed;
  for (std::size_t i = 3; i < series.points.size(); i += 7) disturbed.insert(i);
  for (const std::size_t i : disturbed) series.points[i].value *= 0.8;
  const Tracked tracked = judged(std::vector<RunSeries>{series}, disturbed);
  ASSERT_EQ(tracked.series[0].changes.size(), 1);
  EXPECT_NEAR(tracked.series[0].changes[0].shift.estimate, -0.12, 0.03);
}

TEST(DisturbedLevels, DoNotCountForTheBaselineOfTheNewestRun) {
  RunSeries series = made_series({.points = 9, .cv = 0.003});
  series.points[8].value *= 0.7;
  const Tracked tracked = judged(std::vector<RunSeries>{series}, {8});
  EXPECT_EQ(tracked.series[0].newest_state, NewestState::kDisturbed);
}

TEST(DisturbedLevels, OfHalfTheRunsAreNoRegression) {
  const Tracked tracked = judged({.steps = {{30, 0.8}}}, range(30, 60));
  EXPECT_EQ(tracked.series[0].changes[0].verdict, ChangeVerdict::kDisturbed);
  EXPECT_EQ(exit_status(tracked), 0);
}

TEST(DisturbedLevels, DoNotMoveAChange) {
  RunSeries series = made_series({.points = 90, .cv = 0.003, .steps = {{45, 0.98}}});
  const std::set<std::size_t> disturbed = {4, 13, 26, 41, 43, 48, 52, 59, 67, 74, 88};
  for (const std::size_t point : disturbed) {
    series.points[point].value *= point % 2 == 0 ? 0.6 : 0.8;
  }
  const Tracked tracked = judged(std::vector<RunSeries>{series}, disturbed);
  ASSERT_EQ(tracked.series[0].changes.size(), 1);
  EXPECT_NEAR(static_cast<double>(tracked.series[0].changes[0].at), 45, 1);
  EXPECT_EQ(exit_status(tracked), 1);
}

TEST(DisturbedLevels, HideNoRegressionThatQuietRunsConfirm) {
  const MadeSeries made{.steps = {{50, 0.97}}};
  EXPECT_EQ(exit_status(judged(made, {35, 40, 45, 51, 53, 57})), 1);
  EXPECT_EQ(exit_status(judged(made, range(50, 56))), 0) << "four quiet runs are too few";
}

TEST(DisturbedLevels, OfTwoNewestRunsAreNotConfirmed) {
  const MadeSeries made{.steps = {{58, 0.9}}};
  EXPECT_EQ(exit_status(judged(made, {})), 1);
  const Tracked tracked = judged(made, {58, 59});
  EXPECT_EQ(exit_status(tracked), 0);
  EXPECT_EQ(tracked.series[0].newest_state, NewestState::kDisturbed);
  EXPECT_EQ(exit_status(judged(made, {58})), 0) << "one quiet run is only suspect";
}

TEST(DisturbedLevels, KeepAnEarlierRegressionRecovered) {
  const MadeSeries made{.steps = {{20, 0.9}, {40, 1 / 0.9}, {54, 0.8}}};
  const Tracked tracked = judged(made, range(54, 60));
  ASSERT_EQ(tracked.series[0].changes.size(), 2);
  EXPECT_TRUE(tracked.series[0].changes[0].recovered);
  EXPECT_EQ(exit_status(tracked), 0);
}

TEST(DisturbedLevels, OfTwoNewestRunsKeepAnEarlierRegressionRecovered) {
  const MadeSeries made{.steps = {{20, 0.9}, {40, 1 / 0.9}, {58, 0.8}}};
  const Tracked tracked = judged(made, {58, 59});
  EXPECT_TRUE(tracked.series[0].changes[0].recovered);
  EXPECT_EQ(exit_status(tracked), 0);
}

TEST(DisturbedLevels, ShowNoRecovery) {
  const MadeSeries made{.steps = {{20, 0.9}, {54, 1 / 0.9}}};
  EXPECT_EQ(exit_status(judged(made, {})), 0);
  const Tracked tracked = judged(made, range(54, 60));
  EXPECT_FALSE(tracked.series[0].changes[0].recovered);
  EXPECT_EQ(exit_status(tracked), 1);
}

TEST(DisturbedLevels, OfACanaryExcuseNoRegression) {
  const RunSeries series = made_series({.steps = {{50, 0.95}}});
  const auto with_canary = [&](const MadeStep& step) {
    return std::vector<RunSeries>{series, made_series({.workload = "frozen",
                                                       .steps = {step},
                                                       .seed = 2,
                                                       .canary = true,
                                                       .one_revision = true})};
  };
  EXPECT_EQ(exit_status(judged(with_canary({52, 0.8}), {})), 0);
  const Tracked tracked = judged(with_canary({52, 0.8}), range(52, 60));
  EXPECT_EQ(tracked.series[0].changes[0].cause, Cause::kCode);
  EXPECT_EQ(exit_status(tracked), 1);
}

TEST(DisturbedLevels, OfACanarysNewestRunExcuseNoRegression) {
  const std::vector<RunSeries> all = {
      made_series({.steps = {{58, 0.9}}}),
      made_series({.workload = "frozen", .steps = {{59, 0.9}}, .seed = 2, .canary = true})};
  EXPECT_EQ(exit_status(judged(all, {})), 0);
  EXPECT_EQ(exit_status(judged(all, {59})), 1);
}

TEST(DisturbedLevels, DoNotChangeTheSizeThatQuietRunsShow) {
  RunSeries series = made_series({.points = 70, .cv = 0.002, .steps = {{50, 0.985}}});
  const std::set<std::size_t> disturbed = {50, 52, 54, 56, 58, 60, 62, 64, 66, 68};
  for (const std::size_t point : disturbed) series.points[point].value *= 0.7;
  const Tracked tracked = judged(std::vector<RunSeries>{series}, disturbed);
  ASSERT_EQ(tracked.series[0].changes.size(), 1);
  const SeriesChange& change = tracked.series[0].changes[0];
  EXPECT_EQ(change.verdict, ChangeVerdict::kRegressed);
  EXPECT_NEAR(change.shift.estimate, std::log(0.985), 0.003);
}

TEST(DisturbedLevels, SkipNoSeriesInJunitOnceAcknowledged) {
  const std::vector<RunSeries> series = {made_series({.steps = {{30, 0.8}}})};
  const std::set<std::size_t> disturbed = range(30, 60);
  const ChangeNote noise{.series_key = series[0].key,
                         .at_run = series[0].points[30].run_ids.front(),
                         .effect = -0.2,
                         .state = "noise"};
  EXPECT_THAT(junit_of(judged(series, disturbed)), HasSubstr("skipped=\"1\""));
  EXPECT_THAT(junit_of(judged(series, disturbed, {}, {noise})), HasSubstr("skipped=\"0\""));
}

TEST(DisturbedLevels, BeforeAChangeAreNoImprovement) {
  const Tracked tracked = judged({.steps = {{20, 1.3}}}, range(0, 20));
  EXPECT_EQ(tracked.series[0].changes[0].verdict, ChangeVerdict::kDisturbed);
}

TEST(DisturbedLevels, ExplainAnOddNewestRun) {
  const Tracked tracked = judged({.steps = {{59, 0.9}}}, {59});
  EXPECT_EQ(tracked.series[0].newest_state, NewestState::kDisturbed);
  EXPECT_THAT(newest_line(tracked.series[0]),
              HasSubstr("disturbed, other programs used the processors"));
  EXPECT_THAT(news_lines(tracked), Contains(HasSubstr("were disturbed: resnet50")));
}

}  // namespace
}  // namespace bench::results
