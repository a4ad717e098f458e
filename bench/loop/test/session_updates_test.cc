#include "bench/loop/test/tiny_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

using testing::Contains;
using testing::Not;

TEST(Session, UpdatesTheVariablesInEveryStepWarmUpIncluded) {
  TinyRun tiny;
  tiny.settings.workload.learning_rate.request.init_learning_rate = 0.5;
  tiny.settings.outputs.lines.loss = ReportedLoss::base;
  tiny.settings.execution.warmup.num_batches = 1;
  tiny.run();
  EXPECT_LT(tiny.result.loss_first.value(), std::log(4) - 0.1);
  EXPECT_LT(tiny.result.loss_last.value(), tiny.result.loss_first.value() - 0.1);
  EXPECT_EQ(tiny.result.global_steps(), 4);
}

TEST(Session, KeepsTheLossOfEveryMeasuredStep) {
  TinyRun tiny;
  tiny.settings.workload.learning_rate.request.init_learning_rate = 0.5;
  tiny.settings.execution.warmup.num_batches = 1;
  tiny.run();
  ASSERT_EQ(tiny.result.losses.size(), 3U);
  EXPECT_EQ(tiny.result.losses.front(), tiny.result.loss_first);
  EXPECT_GT(tiny.result.losses[0], tiny.result.losses[1]);
  EXPECT_EQ(tiny.result.losses.back(), tiny.result.loss_last);

  TinyRun forward;
  forward.settings.workload.mode = RunMode::forward_only;
  forward.settings.workload.num_classes = 7;
  forward.run();
  EXPECT_TRUE(forward.result.losses.empty());
}

TEST(Session, LearnsWithEveryOptimizer) {
  std::vector<std::vector<double>> courses;
  for (const OptimizerRow& row : all_optimizers()) {
    TinyRun tiny;
    tiny.settings.workload.optimizer.rule = row.rule;
    tiny.settings.workload.learning_rate.request.init_learning_rate = 0.125;
    tiny.run();
    const std::vector<double>& losses = tiny.result.losses;
    EXPECT_LT(losses[1], losses[0]) << row.name;
    EXPECT_LT(losses[2], losses[1]) << row.name;
    EXPECT_THAT(courses, Not(Contains(losses))) << row.name;
    courses.push_back(losses);
  }
}

/// Three training steps, in 16 bits.
SessionResult train_in(DType dtype, double loss_scale, bool automatic) {
  TinyRun tiny;
  tiny.settings.workload.dtype = dtype;
  tiny.settings.workload.learning_rate.request.init_learning_rate = 0.5;
  tiny.settings.workload.loss_scale.initial = loss_scale;
  tiny.settings.workload.loss_scale.automatic = automatic;
  tiny.settings.outputs.lines.loss = ReportedLoss::base;
  tiny.run();
  return tiny.result;
}

// A power of two changes only exponents, so rounding stays the same.
TEST(Session, TakesTheLossScaleOutOfTheUpdateAgain) {
  const std::vector<double> plain = train_in(DType::bf16, 1, false).losses;
  EXPECT_LT(plain[2], plain[0] - 0.1);
  EXPECT_EQ(train_in(DType::bf16, 1024, false).losses, plain);
}

TEST(Session, SkipsTheUpdateIfAGradientIsInfinite) {
  // In f16, 2^24 overflows in the first two steps, and in the third at a quarter of that scale.
  const SessionResult result = train_in(DType::f16, std::ldexp(1, 24), true);
  EXPECT_EQ(result.losses[1], result.losses[0]);
  EXPECT_EQ(result.losses[2], result.losses[0]);
  EXPECT_GE(result.skipped_updates, 2);
}

TEST(Session, CountsTheUpdatesThatItSkipsItself) {
  TinyRun tiny;
  tiny.settings.workload.dtype = DType::f16;
  tiny.settings.workload.learning_rate.request.init_learning_rate = 0.5;
  tiny.settings.workload.loss_scale.automatic = true;
  tiny.restored.emplace();
  tiny.restored->set_loss_scale(std::ldexp(1, 24));
  tiny.restored->skipped = 40;
  tiny.run();
  EXPECT_GE(tiny.result.skipped_updates, 2);
  EXPECT_LE(tiny.result.skipped_updates, 3);
}

TEST(Session, CountsNoUpdateThatTheLossScaleSkips) {
  const auto train = [](double loss_scale) {
    TinyRun tiny;
    tiny.settings.workload.dtype = DType::f16;
    tiny.settings.workload.optimizer.rule = AdamRule{};
    tiny.settings.execution.steps.num_batches = 6;
    tiny.settings.workload.learning_rate.request.init_learning_rate = 0.125;
    tiny.settings.workload.loss_scale.initial = loss_scale;
    tiny.settings.workload.loss_scale.automatic = true;
    tiny.settings.outputs.lines.loss = ReportedLoss::base;
    tiny.run();
    return tiny.result;
  };
  // Each skip halves the scale, which changes only exponents.
  const SessionResult plain = train(64);
  const SessionResult late = train(std::ldexp(1, 18));
  ASSERT_EQ(plain.skipped_updates, 0);
  ASSERT_GE(late.skipped_updates, 1);
  ASSERT_LE(late.skipped_updates, 3);
  const auto skipped = static_cast<std::size_t>(late.skipped_updates);
  for (std::size_t step = skipped; step < late.losses.size(); ++step) {
    EXPECT_EQ(late.losses[step], plain.losses[step - skipped]) << step;
  }
}

}  // namespace
}  // namespace bench
