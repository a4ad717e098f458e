#include "bench/plan/schedule.h"

#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

TEST(Warmup, HasTenStepsByDefault) { EXPECT_EQ(plan_warmup({}).num_batches, 10); }

TEST(Warmup, HasTheStepsThatWereAskedFor) {
  EXPECT_EQ(plan_warmup({.num_warmup_batches = 0}).num_batches, 0);
  EXPECT_EQ(plan_warmup({.num_warmup_batches = 3, .autotune_threshold = 9}).num_batches, 3);
}

TEST(Warmup, GrowsWithTheSquareOfTheTrials) {
  EXPECT_EQ(plan_warmup({.autotune_threshold = 0}).num_batches, 10);
  EXPECT_EQ(plan_warmup({.autotune_threshold = 1}).num_batches, 10);
  EXPECT_EQ(plan_warmup({.autotune_threshold = 2}).num_batches, 20);
  EXPECT_EQ(plan_warmup({.autotune_threshold = 1000000}).num_batches, 5'000'000'000'000);
}

TEST(Warmup, IsRoundedUpToWholeGroups) {
  const Warmup even = plan_warmup({.num_warmup_batches = 8, .batch_group_size = 4});
  EXPECT_EQ(even.num_batches, 8);
  EXPECT_FALSE(even.rounded_up);
  const Warmup odd = plan_warmup({.num_warmup_batches = 9, .batch_group_size = 4});
  EXPECT_EQ(odd.num_batches, 12);
  EXPECT_TRUE(odd.rounded_up);
}

TEST(Warmup, CountsTheGroupsThatTheProducerIsAhead) {
  // 9 + 2 - 1 = 10 steps of the producer become 12, of which 11 are warm-up.
  EXPECT_EQ(plan_warmup({.num_warmup_batches = 9, .batch_group_size = 4, .enqueue_groups = 2})
                .num_batches,
            11);
  EXPECT_EQ(plan_warmup({.num_warmup_batches = 9, .batch_group_size = 4, .enqueue_groups = 0})
                .num_batches,
            9);
  EXPECT_EQ(plan_warmup({.num_warmup_batches = 0, .batch_group_size = 4, .enqueue_groups = 0})
                .num_batches,
            1);
}

TEST(StepCount, IsAHundredByDefault) {
  const StepCount count = plan_steps({.examples_per_step = 10, .examples_per_epoch = 100});
  EXPECT_EQ(count.num_batches, 100);
  EXPECT_DOUBLE_EQ(count.num_epochs, 10);
}

TEST(StepCount, ReportsTheEpochsOfGivenBatches) {
  const StepCount count =
      plan_steps({.num_batches = 21, .examples_per_step = 25, .examples_per_epoch = 50});
  EXPECT_EQ(count.num_batches, 21);
  EXPECT_DOUBLE_EQ(count.num_epochs, 10.5);
}

TEST(StepCount, CoversGivenEpochs) {
  const StepCount uneven =
      plan_steps({.num_epochs = 3, .examples_per_step = 2, .examples_per_epoch = 3});
  EXPECT_EQ(uneven.num_batches, 5);
  EXPECT_DOUBLE_EQ(uneven.num_epochs, 10.0 / 3);
  const StepCount even =
      plan_steps({.num_epochs = 4, .examples_per_step = 2, .examples_per_epoch = 3});
  EXPECT_EQ(even.num_batches, 6);
  EXPECT_DOUBLE_EQ(even.num_epochs, 4);
}

TEST(StepCount, CoversAFractionOfAnEpoch) {
  EXPECT_EQ(
      plan_steps({.num_epochs = 100.0 / 50000, .examples_per_step = 2, .examples_per_epoch = 50000})
          .num_batches,
      50);
}

TEST(StepCount, RefusesBatchesWithEpochs) {
  EXPECT_THROW(plan_steps({.num_batches = 1, .num_epochs = 1}), UsageError);
}

TEST(StepCount, RefusesEpochsThatMakeNoStepOrTooMany) {
  EXPECT_THROW(plan_steps({.num_epochs = 1e-9, .examples_per_epoch = 1000}), UsageError);
  EXPECT_THROW(plan_steps({.num_epochs = 1e300, .examples_per_epoch = 1000}), UsageError);
}

}  // namespace
}  // namespace bench
