#include "bench/after/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using ::testing::DoubleNear;

/// Of towers with a batch of 10 each, in steps of `milliseconds`, which all towers spend alike.
results::Record record_of(int devices, double milliseconds, const results::TowerTimes& times) {
  results::Record record;
  record.workload.devices = devices;
  record.workload.global_batch = 10 * devices;
  record.metrics.push_back(
      {.name = "images_per_sec", .value = 10 * devices / (milliseconds / 1000)});
  record.towers.assign(static_cast<std::size_t>(devices), times);
  return record;
}

constexpr ScalingReference kOne{
    .devices = 1,
    .images_per_second = 1000,  // In steps of 10 ms.
    .parts = ScalingReference::Parts{
        .computing = 0.008, .exchanging = 0, .updating = 0.001, .waiting = 0}};

TEST(Scaling, TellsWhereTheRestWent) {
  results::Record record = record_of(
      2, 12.5,
      {.computing = 0.009, .exchanging = 0.001, .updating = 0.001, .waiting = 0.0, .rest = 0.0015});
  // One of the two waits for the other.
  record.towers[1].computing = 0.0085;
  record.towers[1].waiting = 0.0005;
  const results::Scaling scaling = scaling_of({.reference = kOne}, record);
  EXPECT_EQ(scaling.reference_devices, 1);
  EXPECT_DOUBLE_EQ(scaling.efficiency, 0.8);
  EXPECT_THAT(scaling.computing.value(), DoubleNear(0.06, 1e-12));
  EXPECT_THAT(scaling.exchanging.value(), DoubleNear(0.08, 1e-12));
  EXPECT_THAT(scaling.updating.value(), DoubleNear(0, 1e-12));
  EXPECT_THAT(scaling.waiting.value(), DoubleNear(0.02, 1e-12));
  EXPECT_THAT(scaling.rest.value(), DoubleNear(0.04, 1e-12));
}

TEST(Scaling, HoldsTheFirstAgainstItself) {
  const results::Record record =
      record_of(1, 10, {.computing = 0.009, .exchanging = 0.0, .updating = 0.001, .waiting = 0.0});
  const results::Scaling scaling = scaling_of({}, record);
  EXPECT_EQ(scaling.efficiency, 1);
  EXPECT_EQ(scaling.computing.value(), 0);
  EXPECT_EQ(scaling.rest.value(), 0);
}

TEST(Scaling, SaysWhyThePartsAreUnknown) {
  const results::Record record = record_of(2, 10, {});
  const results::Scaling scaling = scaling_of({.reference = kOne}, record);
  EXPECT_EQ(scaling.efficiency, 1);
  EXPECT_EQ(scaling.rest.why(), "a device's work is not timed part by part");
}

}  // namespace
}  // namespace bench
