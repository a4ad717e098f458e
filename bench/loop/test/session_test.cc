#include "bench/loop/session.h"
#include "results/environment/gpu_sensors.h"
#include "results/environment/gpu_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/loop/test/tiny_run.h"
#include "results/environment/test/fake_nvml.h"

namespace bench {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

constexpr const char* kRule = "----------------------------------------------------------------\n";

TEST(Session, PrintsTheLinesOfTheOriginal) {
  TinyRun tiny;
  tiny.settings.workload.batch = 32;
  tiny.settings.execution.warmup.num_batches = 1;
  tiny.settings.outputs.lines.every = 1;
  tiny.waits = {milliseconds(700), milliseconds(100), milliseconds(200), milliseconds(100)};
  tiny.run();
  EXPECT_EQ(tiny.out.str(), fmt::format("Running warm up\n"
                                        "Done warm up\n"
                                        "Step\tImg/sec\ttotal_loss\n"
                                        "1\timages/sec: 320.0 +/- 0.0 (jitter = 0.0)\t1.636\n"
                                        "2\timages/sec: 213.3 +/- 56.6 (jitter = 118.6)\t1.636\n"
                                        "3\timages/sec: 240.0 +/- 43.5 (jitter = 0.0)\t1.636\n"
                                        "{}total images/sec: 240.00\n{}",
                                        kRule, kRule));
  EXPECT_THAT(tiny.result.steps,
              ElementsAre(milliseconds(100), milliseconds(200), milliseconds(100)));
  EXPECT_EQ(tiny.result.input_wait, milliseconds(400));
  EXPECT_EQ(tiny.result.wall, milliseconds(400));
  EXPECT_EQ(tiny.result.stop, Stop::complete);
}

TEST(Session, PrintsTheFirstStepAndEveryStepThatDisplayEveryDivides) {
  TinyRun tiny;
  tiny.settings.execution.steps.num_batches = 7;
  tiny.settings.outputs.lines.every = 3;
  tiny.run();
  const std::string speed = "\timages/sec: 20.0 +/- 0.0 (jitter = 0.0)\t1.636\n";
  EXPECT_EQ(tiny.out.str(), fmt::format("Running warm up\nDone warm up\nStep\tImg/sec\ttotal_loss\n"
                                        "1{}3{}6{}{}total images/sec: 20.00\n{}",
                                        speed, speed, speed, kRule, kRule));
}

TEST(Session, WarmsUpAsOftenAsAskedWithoutCountingIt) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 5;
  tiny.run();
  EXPECT_EQ(tiny.calls, 8U);
  EXPECT_EQ(tiny.result.warmup_steps, 5);
  EXPECT_EQ(tiny.result.steps.size(), 3U);
  EXPECT_EQ(tiny.result.wall, milliseconds(300));
}

TEST(Session, TakesTheTotalFromWallTimeAndTheLinesFromStepTimes) {
  TinyRun tiny;
  tiny.between = milliseconds(50);
  tiny.settings.outputs.lines.every = 3;
  tiny.run();
  // `between` does not pass after the last step.
  EXPECT_EQ(tiny.result.wall, milliseconds(400));
  EXPECT_THAT(tiny.out.str(), HasSubstr("3\timages/sec: 20.0 "));
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: 15.00\n"));
}

TEST(Session, AveragesTheAccuraciesOfMicroBatches) {
  // Every image has class 2: right in one micro-batch, wrong in the others.
  TinyRun tiny;
  tiny.settings.workload.mode = RunMode::forward_only;
  tiny.settings.workload.batch = 6;
  tiny.settings.execution.micro_batch = 2;
  tiny.last_biases = {0, 0, 1, 0};
  tiny.labels = {2, 2, 0, 0, 1, 1};
  tiny.run();
  EXPECT_EQ(tiny.calls, 3U);
  EXPECT_THAT(tiny.result.accuracies,
              Each(Field(&report::Accuracies::top_1, DoubleNear(1.0 / 3, 1e-9))));
  EXPECT_THAT(tiny.out.str(), HasSubstr("1\timages/sec: 60.0 "));
}

TEST(Session, ExcludesWhatFollowsAStepFromAllTimes) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 2;
  tiny.pause = milliseconds(700);
  std::vector<std::int64_t> measured;
  std::vector<bool> last;
  tiny.after_step = [&](const CompletedStep& step) {
    EXPECT_EQ(step.steps, step.measured + 2);
    measured.push_back(step.measured);
    last.push_back(step.last);
    return true;
  };
  tiny.run();
  EXPECT_THAT(measured, ElementsAre(-1, 0, 1, 2, 3));
  EXPECT_THAT(last, ElementsAre(false, false, false, false, true));
  EXPECT_EQ(tiny.result.wall, milliseconds(300));
  EXPECT_EQ(tiny.result.paused, milliseconds(2100));
  EXPECT_EQ(tiny.result.input_wait, milliseconds(300));
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: 20.00\n"));
}

TEST(Session, EndsIfWhatFollowsAStepAsksForIt) {
  TinyRun tiny;
  tiny.after_step = [](const CompletedStep& step) { return step.steps < 2; };
  tiny.run();
  EXPECT_EQ(tiny.result.stop, Stop::enough);
  EXPECT_EQ(tiny.result.steps.size(), 2U);

  TinyRun warming;
  warming.settings.execution.warmup.num_batches = 5;
  warming.after_step = [](const CompletedStep& step) { return step.steps < 2; };
  warming.run();
  EXPECT_EQ(warming.result.stop, Stop::enough);
  EXPECT_EQ(warming.calls, 2U);
}

TEST(Session, CountsStepsFromTheBeginningOfTheTrainingThatItContinues) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 1;
  tiny.steps_before = 10;
  tiny.training_warmup = 4;
  std::vector<std::int64_t> measured;
  tiny.after_step = [&](const CompletedStep& step) {
    EXPECT_EQ(step.steps, step.measured + 4);
    measured.push_back(step.measured);
    return true;
  };
  tiny.run();
  EXPECT_THAT(measured, ElementsAre(7, 8, 9, 10));
  EXPECT_EQ(tiny.result.global_steps(), 14);
}

TEST(Session, PrintsTheTotalAfterTheTimeLimit) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 10;
  tiny.settings.execution.steps.num_batches = 1000;
  tiny.settings.execution.max_seconds = 1.05;
  tiny.run();
  EXPECT_EQ(tiny.result.stop, Stop::out_of_time);
  // Warm-up is over once more than a quarter of the time, 262.5 ms, has passed.
  EXPECT_EQ(tiny.result.warmup_steps, 3);
  EXPECT_EQ(tiny.result.steps.size(), 8U);
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: 20.00\n"));
}

TEST(Session, TakesMoreStepsThanMemoryCouldHoldWhenTimeBoundsThem) {
  TinyRun tiny;
  tiny.settings.execution.steps.num_batches = std::numeric_limits<std::int64_t>::max();
  tiny.settings.execution.max_seconds = 0.35;
  tiny.run();
  EXPECT_EQ(tiny.result.steps.size(), 4U);
}

TEST(Session, WatchesTheGpuWhileItMeasuresAndNotBefore) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  const GpuSensors sensors(kFakeBus, fake.path);
  const SteadyClock clock;
  TinyRun tiny;
  GpuWatch measured(sensors, clock);
  tiny.watch = &measured;
  tiny.run();
  // The watch ended with the last step, without a further call.
  const int samples = fake->calls["nvmlDeviceGetPowerUsage"];
  EXPECT_EQ(measured.result().value().samples, samples);

  TinyRun ended;
  ended.settings.execution.warmup.num_batches = 10;
  ended.interrupted = [](std::size_t steps) { return steps >= 2; };
  GpuWatch warming(sensors, clock);
  ended.watch = &warming;
  ended.run();
  EXPECT_EQ(ended.result.stop, Stop::interrupted);
  warming.end();
  EXPECT_EQ(warming.result().why(), "no step was timed");
  EXPECT_EQ(fake->calls["nvmlDeviceGetPowerUsage"], samples);
}

TEST(Session, WarmsUpTwiceAndMeasuresOnceAtLeast) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 10;
  tiny.settings.execution.max_seconds = 0.001;
  tiny.run();
  EXPECT_EQ(tiny.result.warmup_steps, 2);
  EXPECT_EQ(tiny.result.steps.size(), 1U);
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: "));
}

TEST(Session, EndsAfterTheCurrentStepIfInterrupted) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 1;
  tiny.settings.execution.steps.num_batches = 100;
  tiny.interrupted = [](std::size_t steps) { return steps >= 3; };
  tiny.run();
  EXPECT_EQ(tiny.result.stop, Stop::interrupted);
  EXPECT_EQ(tiny.result.steps.size(), 2U);
  EXPECT_EQ(tiny.calls, 3U);
  EXPECT_EQ(tiny.out.str(),
            "Running warm up\nDone warm up\nStep\tImg/sec\ttotal_loss\n"
            "1\timages/sec: 20.0 +/- 0.0 (jitter = 0.0)\t1.636\n");
}

TEST(Session, EndsInTheWarmUpWhenInterruptedThere) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 10;
  tiny.interrupted = [](std::size_t steps) { return steps >= 2; };
  tiny.run();
  EXPECT_EQ(tiny.result.stop, Stop::interrupted);
  EXPECT_EQ(tiny.calls, 2U);
  EXPECT_TRUE(tiny.result.steps.empty());
  EXPECT_EQ(tiny.out.str(), "Running warm up\n");
}

TEST(Session, IsCompleteWhenInterruptedInItsLastStep) {
  TinyRun tiny;
  tiny.interrupted = [](std::size_t steps) { return steps >= 3; };
  tiny.run();
  EXPECT_EQ(tiny.result.stop, Stop::complete);
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: "));
}

TEST(Session, StopsAtANonFiniteLossAndKeepsTheSteps) {
  TinyRun tiny;
  tiny.settings.execution.steps.num_batches = 10;
  tiny.settings.execution.warmup.num_batches = 2;
  tiny.spoil_from = 4;
  try {
    tiny.run();
    FAIL() << "the loss is taken for finite";
  } catch (const LossError& error) {
    EXPECT_STREQ(error.what(),
                 "the loss is nan after 5 steps: try a lower learning rate (--init_learning_rate)");
  }
  EXPECT_EQ(tiny.calls, 5U);
  EXPECT_EQ(tiny.result.steps.size(), 2U);
  EXPECT_NEAR(tiny.result.loss_last.value(), std::log(4) + 0.25, 1e-6);
  EXPECT_THAT(tiny.out.str(), testing::Not(HasSubstr("total images/sec")));
}

TEST(Session, StopsAtANonFiniteLossInTheWarmUp) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 2;
  tiny.spoil_from = 1;
  EXPECT_THROW(tiny.run(), LossError);
  EXPECT_EQ(tiny.calls, 2U);
}

TEST(Session, DoesNotBlameTheLearningRateForALossBeforeAnyUpdate) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 0;
  tiny.spoil_from = 0;
  try {
    tiny.run();
    FAIL() << "the loss is taken for finite";
  } catch (const LossError& error) {
    EXPECT_THAT(error.what(), HasSubstr("in the first step, before any update"));
  }
}

TEST(Session, BlamesALargeWeightDecayForALossBeforeAnyUpdate) {
  TinyRun tiny;
  tiny.settings.execution.warmup.num_batches = 0;
  tiny.settings.workload.optimizer.weight_decay = 1e300;
  tiny.spoil_from = 0;
  try {
    tiny.run();
    FAIL() << "the loss is taken for finite";
  } catch (const LossError& error) {
    EXPECT_THAT(error.what(), HasSubstr("try a lower --weight_decay, which is 1e+300"));
  }
}

TEST(Session, FailsForNanLogitsInForwardOnly) {
  TinyRun tiny;
  tiny.settings.workload.mode = RunMode::forward_only;
  tiny.run();
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: "));
  TinyRun spoiled;
  spoiled.settings.workload.mode = RunMode::forward_only;
  spoiled.last_biases = {0, 0, std::numeric_limits<float>::quiet_NaN(), 0};
  EXPECT_THROW(spoiled.run(), LossError);
  EXPECT_EQ(spoiled.result.steps.size(), 3U);
  EXPECT_THAT(spoiled.out.str(), testing::Not(HasSubstr("total images/sec: ")));
}

TEST(Session, FailsForNanLogitsInAnyMicroBatch) {
  TinyRun tiny;
  tiny.settings.workload.mode = RunMode::forward_only;
  tiny.settings.workload.batch = 6;
  tiny.settings.execution.micro_batch = 2;
  tiny.spoil_from = 0;  // The first image.
  EXPECT_THROW(tiny.run(), LossError);
}

TEST(Session, AddsAccuraciesOnRequest) {
  TinyRun tiny;
  tiny.settings.workload.num_classes = 7;
  tiny.settings.workload.print_training_accuracy = true;
  tiny.settings.execution.steps.num_batches = 1;
  tiny.last_biases = {7, 6, 5, 4, 3, 2, 1};
  tiny.labels = {0, 4};
  tiny.run();
  ASSERT_EQ(tiny.result.accuracies.size(), 1U);
  EXPECT_EQ(tiny.result.accuracies[0].top_1, 0.5);
  EXPECT_EQ(tiny.result.accuracies[0].top_5, 1.0);
  EXPECT_THAT(tiny.out.str(), HasSubstr("Step\tImg/sec\ttotal_loss\ttop_1_accuracy\t"
                                        "top_5_accuracy\n1\timages/sec: 20.0 +/- 0.0 (jitter = "
                                        "0.0)\t"));
  EXPECT_THAT(tiny.out.str(), HasSubstr("\t0.500\t1.000\n"));
  EXPECT_EQ(tiny.result.top_1, 0.5);
  EXPECT_EQ(tiny.result.top_5, 1.0);
}

TEST(Session, PrintsAZeroLossAndAccuraciesWhenItOnlyRunsForward) {
  TinyRun tiny;
  tiny.settings.workload.mode = RunMode::forward_only;
  tiny.settings.workload.num_classes = 7;
  tiny.settings.execution.steps.num_batches = 1;
  tiny.last_biases = {7, 6, 5, 4, 3, 2, 1};
  tiny.labels = {6, 4};
  tiny.run();
  EXPECT_EQ(tiny.out.str(),
            fmt::format("Running warm up\nDone warm up\n"
                        "Step\tImg/sec\ttotal_loss\ttop_1_accuracy\ttop_5_accuracy\n"
                        "1\timages/sec: 20.0 +/- 0.0 (jitter = 0.0)\t0.000\t0.000\t0.500\n"
                        "{}total images/sec: 20.00\n{}",
                        kRule, kRule));
  EXPECT_EQ(tiny.result.loss_last, std::nullopt);
}

TEST(Session, WeighsRecentStepsMoreWithDisplayPerfEwma) {
  TinyRun tiny;
  tiny.settings.workload.batch = 64;
  tiny.settings.execution.steps.num_batches = 4;
  tiny.settings.outputs.lines.every = 4;
  tiny.waits = {milliseconds(500), milliseconds(400), milliseconds(250), milliseconds(200)};
  tiny.settings.outputs.lines.ewma = 0.5;
  tiny.run();
  EXPECT_THAT(tiny.out.str(), HasSubstr("4\timages/sec: 246.2 +/- 38.2 (jitter = 94.9)\t"));
}

TEST(Session, ReportsTheTotalLossAsBaseLossAndL2Term) {
  TinyRun total;
  total.run();
  TinyRun base;
  base.settings.outputs.lines.loss = ReportedLoss::base;
  base.run();
  EXPECT_THAT(base.out.str(), HasSubstr("Step\tImg/sec\tbase_loss\n"));
  EXPECT_THAT(base.out.str(), HasSubstr(")\t1.386\n"));
  // Half the sum of eight weights' squares is 1; the coefficient is 0.25.
  EXPECT_EQ(total.result.loss_first.value() - base.result.loss_first.value(), 0.25);
}

}  // namespace
}  // namespace bench
