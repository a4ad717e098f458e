#include "bench/runs/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A run whose towers computed for 8 ms of each step and exchanged gradients for 1 ms.
ChildOutcome scaled_outcome(int devices, double images_per_second, double efficiency) {
  results::StoredRun run;
  run.metrics["images_per_sec"].value = images_per_second;
  run.metrics["peak_rss"].value = 3 << 20;
  const nlohmann::json tower = {
      {"input", 0.0005}, {"computing", 0.008}, {"exposed_communication", 0.001},
      {"updating", 0},   {"host", 0.0005},     {"waiting", 0}};
  run.record = {{"workload", {{"devices", devices}}},
                {"towers", nlohmann::json::array()},
                {"scaling",
                 {{"efficiency", efficiency},
                  {"lost",
                   {{"input", 0.02},
                    {"computing", 0.125},
                    {"exposed_communication", nullptr},
                    {"updating", -0.0001},
                    {"host", -0.01}}}}}};
  for (int i = 0; i < devices; ++i) run.record["towers"].push_back(tower);
  return {.record = run};
}

/// A sweep whose run on `failing` devices ends with status 1.
struct Scaled {
  explicit Scaled(const std::vector<int>& counts, int failing = -1,
                  std::size_t interrupted_after = 9) {
    status = scale(
        counts,
        [&](int devices, int order, const std::string& reference) {
          EXPECT_EQ(order, static_cast<int>(runs.size()));
          runs.push_back(devices);
          references.push_back(reference);
          return devices == failing ? ChildOutcome{.status = 1}
                                    : scaled_outcome(devices, 100.0 * devices, 1);
        },
        [&] { return runs.size() == interrupted_after; }, {.out = out, .err = err});
  }

  std::ostringstream out{};
  std::ostringstream err{};
  std::vector<int> runs{};
  std::vector<std::string> references{};
  int status = 0;
};

TEST(ScalingSweep, ComparesTheRunsWithTheFirst) {
  const Scaled scaled({1, 2, 4});
  EXPECT_THAT(scaled.runs, ElementsAre(1, 2, 4));
  EXPECT_EQ(scaled.references[0], "first");
  EXPECT_EQ(scaled.references[1], scaled.references[2]);
  const ScalingReference reference = parse_scaling_reference(scaled.references[1]);
  EXPECT_EQ(reference.devices, 1);
  EXPECT_EQ(reference.units_per_second, 100);
  EXPECT_EQ(reference.parts->computing, 0.008);
  EXPECT_EQ(reference.parts->input, 0.0005);
  EXPECT_EQ(reference.parts->exposed_communication, 0.001);
  EXPECT_THAT(scaled.err.str(), HasSubstr("run 2 of 3: 2 devices\n"));
}

TEST(ScalingSweep, PrintsWhatLimitsScaling) {
  std::ostringstream out;
  print_scaling(out,
                std::vector<ScaledRun>{{.devices = 2, .outcome = scaled_outcome(2, 177.4, 0.887)},
                                       {.devices = 4, .outcome = {.status = 1}}});
  EXPECT_THAT(out.str(),
              StartsWith("devices  images/sec  efficiency %  lost: input  computing  exposed "
                         "communication  update  host"));
  EXPECT_THAT(out.str(), testing::ContainsRegex("2 +177.40 +88.7 +2.0 +12.5 +- +0.0 +-1.0 +3\n"));
  EXPECT_THAT(out.str(), HasSubstr("ended with status 1\n"));
}

TEST(ScalingSweep, GoesOnAfterALaterRunThatFails) {
  const Scaled scaled({1, 2, 4}, 2);
  EXPECT_THAT(scaled.runs, ElementsAre(1, 2, 4));
  EXPECT_EQ(scaled.status, 1);
}

TEST(ScalingSweep, EndsWithAFirstRunThatFails) {
  const Scaled scaled({1, 2, 4}, 1);
  EXPECT_THAT(scaled.runs, ElementsAre(1));
  EXPECT_EQ(scaled.status, 1);
}

TEST(ScalingSweep, EndsIfTheUserInterrupts) {
  const Scaled scaled({1, 2, 4}, -1, 2);
  EXPECT_THAT(scaled.runs, ElementsAre(1, 2));
  EXPECT_THAT(scaled.out.str(), Not(HasSubstr("400.00")));
}

}  // namespace
}  // namespace bench
