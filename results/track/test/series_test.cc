#include "results/track/series.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/base/errors.h"

namespace bench::results {
namespace {

StoredRun point(std::int64_t start, double rate, const std::string& group = "") {
  StoredRun run;
  run.record_id = fmt::format("id{}-{:g}", start, rate);
  run.group_id = group.empty() ? run.record_id : group;
  run.start_ms = start;
  run.status = "ok";
  run.workload = "lenet train";
  run.workload_key = "w";
  run.machine = "node7";
  run.machine_key = "m";
  run.git_rev = "abc";
  run.metrics["images_per_sec"] = {.value = rate, .unit = "images/s", .better = Better::kHigher};
  return run;
}

TEST(SeriesOf, OrdersPointsByTimeAndTakesTheMedianOfRepeats) {
  const std::vector<StoredRun> runs = {point(30, 7), point(10, 1, "g"), point(12, 3, "g"),
                                       point(11, 9, "g")};
  const auto series = series_of(runs, {});
  ASSERT_EQ(series.size(), 1);
  ASSERT_EQ(series[0].points.size(), 2);
  EXPECT_EQ(series[0].points[0].value, 3);
  EXPECT_EQ(series[0].points[0].start_ms, 10);
  EXPECT_EQ(series[0].points[0].run_ids.size(), 3);
  EXPECT_EQ(series[0].points[1].value, 7);
}

TEST(SeriesOf, JoinsTheRunsOfOneRevisionOnOneDayIfAsked) {
  constexpr std::int64_t kHour = 3'600'000;
  std::vector<StoredRun> runs = {point(22 * kHour, 5), point(21 * kHour, 1, "g"),
                                 point(20 * kHour, 9, "g"), point(25 * kHour, 7),
                                 point(23 * kHour, 8)};
  runs[4].git_rev = "def";
  EXPECT_EQ(series_of(runs, {})[0].points.size(), 4);
  const auto series = series_of(runs, {.point = PointOf::kDay});
  ASSERT_EQ(series[0].points.size(), 3);
  EXPECT_EQ(series[0].points[0].value, 5);
  EXPECT_EQ(series[0].points[0].run_ids.front(), runs[2].record_id) << "the first run of the day";
  EXPECT_EQ(series[0].points[1].git_rev, "def") << "another revision is another point";
  EXPECT_EQ(series[0].points[2].value, 7);
}

TEST(SeriesOf, SeparatesWorkloadsMachinesAndCanaries) {
  std::vector<StoredRun> runs(4, point(1, 1));
  runs[1].machine_key = "other";
  runs[2].workload_key = "other";
  runs[3].label = "canary";
  const auto series = series_of(runs, {});
  ASSERT_EQ(series.size(), 4);
  int canaries = 0;
  for (const RunSeries& one : series) canaries += one.canary ? 1 : 0;
  EXPECT_EQ(canaries, 1);
}

TEST(SeriesOf, OmitsFailedRunsAndThoseWithoutTheMetric) {
  std::vector<StoredRun> runs = {point(1, 1), point(2, 2), point(3, 3)};
  runs[1].status = "failed";
  runs[2].metrics.clear();
  EXPECT_EQ(series_of(runs, {})[0].points.size(), 1);
  EXPECT_TRUE(series_of(runs, {.metrics = {"other"}}).empty());
}

}  // namespace
}  // namespace bench::results
