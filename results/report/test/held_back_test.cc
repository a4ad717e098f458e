#include "results/report/held_back.h"

#include <gtest/gtest.h>

#include <array>

namespace bench::results {
namespace {

StoredRun run_of(double input_share, const nlohmann::json& roof) {
  StoredRun run;
  run.metrics["input_wait_share"] = {.value = input_share};
  run.record = {{"roof", roof}, {"quality", {{"warnings", nlohmann::json::array()}}}};
  return run;
}

std::string of_one(const StoredRun& run) {
  const std::array<const StoredRun*, 1> one = {&run};
  return held_back_by(one);
}

TEST(HeldBackBy, NamesTheInputAboveATenthOfTheTime) {
  EXPECT_EQ(of_one(run_of(0.23, {{"arithmetic_share", 0.8}})),
            "input: steps waited 23.0% of the time");
}

TEST(HeldBackBy, NamesTheDevicesLimitIfItsRoofIsKnown) {
  EXPECT_EQ(of_one(run_of(0.02, {{"arithmetic_share", nullptr}})), "device");
  EXPECT_EQ(of_one(run_of(0.02, {{"arithmetic_share", 0.8}})),
            "device arithmetic: 80.0% of the minimum time");
  EXPECT_EQ(of_one(run_of(0.02, {{"arithmetic_share", 0.39}})),
            "device memory: 61.0% of the minimum time");
}

TEST(HeldBackBy, CountsTheRunsWithOtherWork) {
  StoredRun busy = run_of(0, {{"arithmetic_share", nullptr}});
  busy.record["load"]["busy_processes"] = {{{"name", "spinner"}, {"processors", 1.0}}};
  const StoredRun quiet = run_of(0, {{"arithmetic_share", nullptr}});
  const std::array<const StoredRun*, 2> both = {&busy, &quiet};
  EXPECT_EQ(held_back_by(both), "device; disturbed runs: 1 of 2");
}

}  // namespace
}  // namespace bench::results
