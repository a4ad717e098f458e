#include "results/record/run_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "results/record/record_table.h"

namespace bench::results {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

const Metric& find(const std::vector<Metric>& metrics, const std::string& name) {
  const auto it = std::find_if(metrics.begin(), metrics.end(),
                               [&](const Metric& metric) { return metric.name == name; });
  check(it != metrics.end(), "no metric " + name);
  return *it;
}

double number(const std::vector<Metric>& metrics, const std::string& name) {
  return std::get<double>(find(metrics, name).value.value());
}

TEST(RunMetrics, KeepApartWallTimeAndTheSumOfSteps) {
  const std::vector<nanoseconds> steps = {seconds(1), seconds(3)};
  const auto metrics = run_metrics({.units_per_step = 40,
                                    .steps = steps,
                                    .wall = seconds(5),
                                    .input_wait = milliseconds(500),
                                    .setup = milliseconds(1200),
                                    .peak_rss_bytes = 1 << 20,
                                    .watts = 400.0,
                                    .planned = {{"activations", 77}},
                                    .loss_first = 8.5,
                                    .loss_last = 7.5,
                                    .top1 = 0.25,
                                    .top5 = Unknown{"two classes only"}});
  EXPECT_DOUBLE_EQ(number(metrics, "images_per_sec"), 16);
  EXPECT_DOUBLE_EQ(number(metrics, "images_per_sec_steps"), 20);
  EXPECT_DOUBLE_EQ(number(metrics, "input_wait_share"), 0.1);
  EXPECT_DOUBLE_EQ(number(metrics, "joules_per_image"), 25);
  EXPECT_DOUBLE_EQ(number(metrics, "setup_time"), 1.2);
  EXPECT_DOUBLE_EQ(number(metrics, "step_time.max"), 3);
  EXPECT_EQ(std::get<std::int64_t>(find(metrics, "step_time.n").value.value()), 2);
  EXPECT_EQ(std::get<std::int64_t>(find(metrics, "peak_rss").value.value()), 1 << 20);
  EXPECT_EQ(std::get<std::int64_t>(find(metrics, "planned_bytes.activations").value.value()), 77);
  EXPECT_EQ(find(metrics, "planned_bytes.activations").kind, Kind::kExact);
  EXPECT_EQ(find(metrics, "top5").value.why(), "two classes only");
  EXPECT_EQ(find(metrics, "step_time.acf1").value.why(), "fewer than three steps, or all equal");
}

TEST(RunMetrics, AreUnknownWithAReasonWithoutSteps) {
  const auto metrics = run_metrics({.units_per_step = 32});
  for (const char* name : {"images_per_sec", "images_per_sec_steps", "step_time.median"}) {
    EXPECT_EQ(find(metrics, name).value.why(), "no timed step was completed") << name;
  }
  EXPECT_EQ(find(metrics, "peak_rss").value.why(), "not captured");
}

TEST(RunMetrics, HoldTheDevicesShareOfTheSteps) {
  const std::vector<nanoseconds> steps = {seconds(1), seconds(3)};
  const std::vector<nanoseconds> on_device = {milliseconds(500), milliseconds(2500)};
  const auto metrics =
      run_metrics({.units_per_step = 1, .steps = steps, .device_steps = std::span(on_device)});
  EXPECT_DOUBLE_EQ(number(metrics, "device_time.median"), 1.5);
  EXPECT_DOUBLE_EQ(number(metrics, "device_time.mad"), 1.4826);
  EXPECT_DOUBLE_EQ(number(metrics, "device_span_share"), 0.75);
  const auto without = run_metrics(
      {.units_per_step = 1, .steps = steps, .device_steps = Unknown{"the device has no clock"}});
  for (const char* name : {"device_time.median", "device_time.mad", "device_span_share"}) {
    EXPECT_EQ(find(without, name).value.why(), "the device has no clock") << name;
  }
}

TEST(RunMetrics, ExplainMissingEnergy) {
  EXPECT_EQ(find(run_metrics({.watts = Unknown{"no GPU"}}), "joules_per_image").value.why(),
            "no GPU");
  EXPECT_EQ(find(run_metrics({.watts = 400.0}), "joules_per_image").value.why(),
            "no timed step was completed");
}

TEST(RunMetrics, HaveDistinctNames) {
  const std::vector<nanoseconds> steps = {seconds(1)};
  const auto metrics = run_metrics({.units_per_step = 1, .steps = steps, .wall = seconds(1)});
  std::set<std::string> names;
  for (const Metric& metric : metrics) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_NE(metric.unit, "") << metric.name;
  }
}

TEST(RunMetrics, AreTheRowsOfTheirTableInItsOrder) {
  std::vector<std::string_view> rows;
  for (const MetricRow& row : metric_rows()) rows.push_back(row.name);
  const std::vector<std::string> units = {"image", "token", "example"};
  for (const std::string& unit : units) {
    std::vector<std::string> names;
    for (const Metric& metric : run_metrics({.unit = unit + "s", .planned = {{"<region>", 77}}})) {
      names.push_back(metric.name);
    }
    std::vector<std::string_view> expected = rows;
    std::erase_if(expected, [&](std::string_view row) {
      return std::ranges::any_of(units, [&](const std::string& other) {
        return other != unit && row.find(other) != row.npos;
      });
    });
    EXPECT_THAT(names, ::testing::ElementsAreArray(expected));
  }
}

TEST(RunMetrics, CountTokensInsteadOfImages) {
  const std::vector<nanoseconds> steps = {seconds(1)};
  const auto metrics =
      run_metrics({.unit = "tokens", .units_per_step = 700, .steps = steps, .wall = seconds(2)});
  EXPECT_EQ(number(metrics, "tokens_per_sec"), 350);
  EXPECT_EQ(number(metrics, "tokens_per_sec_steps"), 700);
  EXPECT_FALSE(find(metrics, "joules_per_token").value.known());
  EXPECT_TRUE(std::ranges::none_of(metrics, [](const Metric& metric) {
    return metric.name.find("image") != std::string::npos;
  }));
}

}  // namespace
}  // namespace bench::results
