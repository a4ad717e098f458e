#include "bench/plan/checkpoint.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

/// A run of 10 warm-up steps and N measured ones.
RunSettings run_of_measured(std::int64_t measured) {
  RunSettings settings;
  settings.execution.warmup.num_batches = 10;
  settings.execution.steps.num_batches = measured;
  return settings;
}

TEST(Checkpoint, AnInterruptedWarmUpDoesNotShortenTheTraining) {
  // Interrupted after 6 and again after 9 of 10 + 5 steps.
  TrainingProgress progress{.steps = 6, .warmup = 10};
  RunSettings settings = run_of_measured(5);
  ASSERT_TRUE(continue_after(progress, settings));
  EXPECT_EQ(settings.execution.warmup.num_batches + settings.execution.steps.num_batches, 9);
  EXPECT_EQ(progress.warmup, 10);
  progress.steps = 9;
  settings = run_of_measured(5);
  ASSERT_TRUE(continue_after(progress, settings));
  EXPECT_EQ(settings.execution.warmup.num_batches + settings.execution.steps.num_batches, 6);
  EXPECT_EQ(progress.warmup, 10);
}

TEST(Checkpoint, AWarmUpThatATimeLimitShortenedStaysShort) {
  TrainingProgress progress{.steps = 6, .warmup = 4};
  RunSettings settings = run_of_measured(5);
  ASSERT_TRUE(continue_after(progress, settings));
  EXPECT_EQ(progress.warmup, 4);
  EXPECT_EQ(settings.execution.warmup.num_batches + settings.execution.steps.num_batches, 3);
}

TEST(Checkpoint, ARunContinuesInTheTypeOfItsCheckpoint) {
  TrainingProgress progress{.steps = 12, .warmup = 10, .half = DType::bf16};
  RunSettings settings = run_of_measured(5);
  ASSERT_TRUE(continue_after(progress, settings));
  ASSERT_TRUE(settings.workload.earlier_half.has_value());
  EXPECT_EQ(settings.workload.earlier_half->dtype, DType::bf16);
  EXPECT_EQ(settings.workload.earlier_half->source, EarlierHalf::Source::checkpoint);
}

TEST(Checkpoint, NothingIsLeftAfterAllSteps) {
  TrainingProgress progress{.steps = 15, .warmup = 10};
  RunSettings settings = run_of_measured(5);
  EXPECT_FALSE(continue_after(progress, settings));
}

}  // namespace
}  // namespace bench
