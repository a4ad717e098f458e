#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <vector>

#include "models/base/errors.h"
#include "results/track/test/made_series.h"
#include "results/track/tracking.h"

/// A year of daily runs of twenty series, with noise of 0.3 to 1.2 %. It contains three real steps
/// in one series each and a drift in one. It also has a change of the machine that its canary
/// shows, and a month without runs.
namespace bench::results {
namespace {

constexpr std::size_t kPoints = 365;
constexpr std::size_t kMachineChange = 220;

std::vector<RunSeries> year() {
  std::vector<RunSeries> all;
  for (std::size_t i = 0; i < 20; ++i) {
    MadeSeries made{.workload = fmt::format("model{:02}", i),
                    .machine = i < 10 ? "a" : "b",
                    .points = kPoints,
                    .cv = 0.003 + 0.0005 * static_cast<double>(i % 19),
                    .seed = 100 + i};
    if (i == 2) made.steps.push_back({60, 0.97});
    if (i == 7) made.steps.push_back({150, 1.05});
    if (i == 13) made.steps.push_back({300, 0.96});
    if (i == 16) made.drift = -0.03 / kPoints;
    if (made.machine == "b") made.steps.push_back({kMachineChange, 0.98});
    all.push_back(made_series(made));
  }
  all.push_back(made_series({.workload = "model10",
                             .machine = "b",
                             .points = kPoints,
                             .cv = 0.003,
                             .steps = {{kMachineChange, 0.98}},
                             .seed = 200,
                             .canary = true,
                             .one_revision = true}));
  for (RunSeries& series : all) {
    // The machines were away for a month.
    series.points.erase(series.points.begin() + 180, series.points.begin() + 210);
  }
  return all;
}

/// The run's number before the missing month was removed.
std::size_t point_of(const RunSeries& series, std::size_t at) {
  return static_cast<std::size_t>((series.points[at].start_ms - kFirstPointMs) / kPointMs);
}

TEST(Year, FindsThePlantedChangesAndLittleElse) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<RunSeries> series = year();
  const Tracked tracked = track(series, {}, {}, {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::size_t failing = 0;
  std::size_t machine = 0;
  std::size_t surprises = 0;
  std::vector<std::string> found;
  for (const TrackedSeries& one : tracked.series) {
    for (const SeriesChange& change : one.changes) {
      const std::size_t point = point_of(one.series, change.at);
      std::cout << one.series.workload << (one.series.canary ? " (canary)" : "") << ": point "
                << point << ", " << 100 * stats::relative_change(change.shift.estimate) << " %, "
                << stats::name_of(change.verdict) << (change.drift ? " by drift" : "") << ", "
                << name_of(change.cause) << (change.recovered ? ", recovered" : "")
                << (change.fails() ? ", fails" : "") << "\n";
      const auto near = [&](std::size_t at, double points) {
        return std::abs(static_cast<double>(point) - static_cast<double>(at)) <= points;
      };
      failing += change.fails() ? 1 : 0;
      if (one.series.machine == "b" && near(kMachineChange, 5)) {
        machine += change.fails() ? 0 : 1;
      } else if ((one.series.workload == "model02" && near(60, 2)) ||
                 (one.series.workload == "model07" && near(150, 2)) ||
                 (one.series.workload == "model13" && near(300, 2))) {
        found.push_back(one.series.workload);
      } else if (one.series.workload != "model16") {
        ++surprises;
      }
    }
  }
  std::cout << series.size() << " series in " << took.count() << " s\n";
  EXPECT_EQ(found, (std::vector<std::string>{"model02", "model07", "model13"})) << "the real steps";
  EXPECT_EQ(failing, 2) << "two of them are regressions";
  EXPECT_EQ(machine, 11) << "ten series and a canary on the machine that changed";
  EXPECT_LE(surprises, 2) << "of 21 series of 335 days";
  EXPECT_EQ(exit_status(tracked), 1);
}

}  // namespace
}  // namespace bench::results
