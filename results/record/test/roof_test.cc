#include "results/record/roof.h"

#include <gtest/gtest.h>

#include <array>

#include "results/record/run_metrics.h"

namespace bench::results {
namespace {

Record measured_record() {
  constexpr std::array kSteps = {std::chrono::nanoseconds(std::chrono::milliseconds(20))};
  Record record;
  record.workload.flops_per_image = 1'000'000'000;
  record.workload.global_batch = 8;
  record.workload.devices = 1;
  record.metrics = run_metrics({.units_per_step = 8, .steps = kSteps, .wall = kSteps[0]});
  return record;
}

const MetricValue& value_of(const Record& record, std::string_view name) {
  for (const Metric& metric : record.metrics) {
    if (metric.name == name) return metric.value;
  }
  throw InternalError(fmt::format("no metric {}", name));
}

TEST(Roof, SharesAreNotKnownBeforeItIsMeasured) {
  EXPECT_EQ(value_of(measured_record(), "roof_share").why(), kNoRoof);
  EXPECT_EQ(value_of(measured_record(), "mfu").why(), kNoRoof);
  EXPECT_EQ(value_of(measured_record(), "bandwidth_share").why(), kNoRoof);
}

// 8 Gflop in 20 ms on a machine of 1 Tflop/s; the kernels need at least 10 ms.
TEST(Roof, SharesAreOfTheStepWithoutInput) {
  Record record = measured_record();
  add_roof(record,
           {.flops_per_second = 1e12,
            .bytes_per_second = 1e10,
            .step_bytes = 5e7,
            .least_step_seconds = 0.010,
            .arithmetic_share = 0.8},
           0.020);
  EXPECT_DOUBLE_EQ(std::get<double>(value_of(record, "roof_share").value()), 0.5);
  EXPECT_DOUBLE_EQ(std::get<double>(value_of(record, "mfu").value()), 0.4);
  EXPECT_DOUBLE_EQ(std::get<double>(value_of(record, "bandwidth_share").value()), 0.25);
  EXPECT_DOUBLE_EQ(record.roof.arithmetic_share.value(), 0.8);
}

TEST(Roof, ExplainsADeviceWithoutARoof) {
  Record record = measured_record();
  const Unknown why{"none measured"};
  add_roof(record,
           {.flops_per_second = why,
            .product_flops_per_second = why,
            .bytes_per_second = why,
            .step_bytes = why,
            .least_step_seconds = why,
            .arithmetic_share = why},
           0.020);
  EXPECT_EQ(value_of(record, "roof_share").why(), "none measured");
  EXPECT_EQ(value_of(record, "mfu").why(), "none measured");
  EXPECT_EQ(value_of(record, "bandwidth_share").why(), "none measured");
}

}  // namespace
}  // namespace bench::results
