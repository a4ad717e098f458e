#include "bench/report/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/loop/step_times.h"

namespace bench {
namespace {

using ::testing::DoubleNear;

/// A record of towers with a batch of 10 each. All towers have the same times in steps of
/// `step_ms`.
results::Record record_of(int devices, double step_ms, const results::TowerTimes& times) {
  results::Record record;
  record.workload.devices = devices;
  record.workload.global_batch = 10 * devices;
  record.metrics.push_back({.name = "images_per_sec", .value = 10 * devices / (step_ms / 1000)});
  record.towers.assign(static_cast<std::size_t>(devices), times);
  return record;
}

constexpr ScalingReference kOne{.devices = 1,
                                .units_per_second = 1000,  // In steps of 10 ms.
                                .parts = ScalingReference::Parts{.input = 0.0004,
                                                                 .computing = 0.008,
                                                                 .exposed_communication = 0,
                                                                 .updating = 0.001,
                                                                 .waiting = 0}};

TEST(Scaling, ReportsWhatLimitsIt) {
  results::Record record = record_of(2, 12.5,
                                     {.mean = {.input = 0.0009,
                                               .computing = 0.009,
                                               .exposed_communication = 0.001,
                                               .updating = 0.001,
                                               .host = 0.0006,
                                               .waiting = 0.0}});
  // One of the two waits for the other.
  record.towers[1].mean.computing = 0.0085;
  record.towers[1].mean.exposed_communication = 0.0015;
  record.towers[1].mean.waiting = 0.0005;
  const results::Scaling scaling =
      scaling_of({.reference = kOne}, record, record.workload.global_batch);
  EXPECT_EQ(scaling.reference_devices, 1);
  EXPECT_DOUBLE_EQ(scaling.efficiency, 0.8);
  const results::StepParts& lost = scaling.lost;
  EXPECT_THAT(lost.input.value(), DoubleNear(0.04, 1e-12));
  EXPECT_THAT(lost.computing.value(), DoubleNear(0.06, 1e-12));
  EXPECT_THAT(lost.exposed_communication.value(), DoubleNear(0.1, 1e-12));
  EXPECT_THAT(lost.updating.value(), DoubleNear(0, 1e-12));
  EXPECT_THAT(lost.host.value(), DoubleNear(0, 1e-12));
  EXPECT_THAT(lost.waiting.value(), DoubleNear(0.02, 1e-12));
}

TEST(Scaling, ComparesTheFirstRunWithItself) {
  const results::Record record = record_of(1, 10,
                                           {.mean = {.input = 0.0,
                                                     .computing = 0.009,
                                                     .exposed_communication = 0.0,
                                                     .updating = 0.001,
                                                     .host = 0.0,
                                                     .waiting = 0.0}});
  const results::Scaling scaling = scaling_of({}, record, record.workload.global_batch);
  EXPECT_EQ(scaling.efficiency, 1);
  EXPECT_EQ(scaling.lost.computing.value(), 0);
  EXPECT_EQ(scaling.lost.host.value(), 0);
}

TEST(Scaling, SaysWhyThePartsAreUnknown) {
  const results::Record record = record_of(2, 10, {});
  const results::Scaling scaling =
      scaling_of({.reference = kOne}, record, record.workload.global_batch);
  EXPECT_EQ(scaling.efficiency, 1);
  EXPECT_EQ(scaling.lost.host.why(), kNotTimedByPart);
}

}  // namespace
}  // namespace bench
