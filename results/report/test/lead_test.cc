#include "results/report/lead.h"

#include <gtest/gtest.h>

#include <cmath>

#include "results/report/prices.h"
#include "results/report/test/made_runs.h"

namespace bench::results {
namespace {

/// How one of two systems with these runs leads.
Lead lead_over(const MadeRun& fast, int repeats = 6) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .speed = 100}, repeats);
  add_repeats(runs, fast, repeats);
  return lead_of(report_data(runs, {.reference = "1 thread"}), {0}, Measure::kSpeed);
}

TEST(Lead, OfClearlyApartRunsIsCertain) {
  const Lead lead = lead_over({.threads = 2, .speed = 150});
  EXPECT_EQ(lead.best, 1U);
  EXPECT_EQ(lead.next, 0U);
  EXPECT_NEAR(std::exp(lead.log_ratio), 1.5, 0.01);
  EXPECT_NEAR(std::exp(*lead.log_ratios[0]), 1 / 1.5, 0.01);
  EXPECT_EQ(*lead.log_ratios[1], 0);
  EXPECT_EQ(lead.sure, Sure::kCertain);
}

TEST(Lead, OfFewRunsIsAtMostProbable) {
  EXPECT_EQ(lead_over({.threads = 2, .speed = 150}, 5).sure, Sure::kProbably);
  EXPECT_EQ(lead_over({.threads = 2, .speed = 150}, 2).sure, Sure::kCannotTell);
}

TEST(Lead, OfDisturbedRunsCannotBeTold) {
  EXPECT_EQ(lead_over({.threads = 2, .speed = 150, .disturbed = true}).sure, Sure::kCannotTell);
}

TEST(Lead, WithOneDisturbedWorkloadOfThreeIsProbable) {
  std::vector<StoredRun> runs;
  for (const char* model : {"a", "b", "c"}) {
    add_repeats(runs, {.model = model, .threads = 1, .speed = 100});
    add_repeats(runs, {.model = model, .threads = 2, .speed = 150, .disturbed = *model == 'a'});
  }
  const ReportData data = report_data(runs, {});
  EXPECT_EQ(lead_of(data, {0, 1, 2}, Measure::kSpeed).sure, Sure::kProbably);
  EXPECT_EQ(lead_of(data, {0, 1}, Measure::kSpeed).sure, Sure::kCannotTell);
}

TEST(Lead, OfOverlappingRunsCannotBeTold) {
  EXPECT_EQ(lead_over({.threads = 2, .speed = 101}).sure, Sure::kCannotTell);
}

TEST(Lead, BelowOnePercentDoesNotCount) {
  std::vector<StoredRun> runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back(made_run({.threads = 1, .speed = 100 + 0.001 * i}, i));
    runs.push_back(made_run({.threads = 2, .speed = 100.5 + 0.001 * i}, i));
  }
  const Lead lead = lead_of(report_data(runs, {}), {0}, Measure::kSpeed);
  EXPECT_GT(lead.interval->low, 0);
  EXPECT_EQ(lead.sure, Sure::kCannotTell);
}

TEST(Lead, MustBeOverEveryOtherSystem) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .speed = 100});
  add_repeats(runs, {.threads = 2, .speed = 99.9});
  add_repeats(runs, {.threads = 4, .speed = 50});
  EXPECT_EQ(lead_of(report_data(runs, {}), {0}, Measure::kSpeed).sure, Sure::kCannotTell);
}

TEST(Lead, IsOverTheWorkloadsThatAllSystemsRan) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.model = "lenet", .threads = 1, .speed = 100});
  add_repeats(runs, {.model = "lenet", .threads = 2, .speed = 200});
  add_repeats(runs, {.model = "vgg", .threads = 1, .speed = 100});
  add_repeats(runs, {.model = "vgg", .threads = 2, .speed = 800});
  add_repeats(runs, {.model = "alexnet", .threads = 1, .speed = 100});
  const ReportData data = report_data(runs, {});
  const Lead lead = lead_of(data, {0, 1, 2}, Measure::kSpeed);
  EXPECT_EQ(lead.rows.size(), 2U);
  EXPECT_NEAR(std::exp(lead.log_ratio), 4, 1e-9);
  EXPECT_EQ(lead.sure, Sure::kCertain);
  EXPECT_EQ(lead_of(data, {0}, Measure::kSpeed).why_none, "Only one system ran these workloads.");
  std::vector<StoredRun> apart;
  add_repeats(apart, {.model = "lenet", .threads = 1});
  add_repeats(apart, {.model = "vgg", .threads = 2});
  EXPECT_EQ(lead_of(report_data(apart, {}), {0, 1}, Measure::kSpeed).why_none,
            "No workload ran on all systems.");
}

TEST(Lead, ByCostIsThatOfTheSpeedPerPrice) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .speed = 100});
  add_repeats(runs, {.threads = 2, .speed = 150});
  ReportData data = report_data(runs, {.reference = "1 thread"});
  EXPECT_EQ(lead_of(data, {0}, Measure::kCost).why_none, "Fewer than two systems have a price.");
  data.systems[0].price = SystemPrice{.currency = "EUR", .hourly = 1};
  data.systems[1].price = SystemPrice{.currency = "EUR", .hourly = 3};
  const Lead lead = lead_of(data, {0}, Measure::kCost);
  EXPECT_EQ(lead.best, 0U);
  EXPECT_NEAR(std::exp(-lead.log_ratio), 0.5, 0.01);
  EXPECT_NEAR(std::exp(*lead.log_ratios[1]), 2, 0.01);
  EXPECT_EQ(lead.sure, Sure::kCertain);
  data.systems[1].price->hourly = 0;
  EXPECT_EQ(lead_of(data, {0}, Measure::kCost).best, 1U);
  EXPECT_TRUE(lead_of(data, {0}, Measure::kCost).free);
}

}  // namespace
}  // namespace bench::results
