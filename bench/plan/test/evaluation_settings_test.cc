#include "bench/plan/evaluation_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/plan/test/settings_for.h"

namespace bench {
namespace {

/// The measured steps up to `last` after which a run evaluates that makes `epochs` passes over 10
/// images in batches of 4.
std::vector<std::int64_t> steps_of(const EvaluationSettings& settings, double epochs,
                                   std::int64_t last = 12) {
  const EvaluationTimes times(settings, {.examples_per_step = 4, .examples_per_epoch = 10}, epochs);
  std::vector<std::int64_t> steps;
  for (std::int64_t step = -1; step <= last; ++step) {
    if (times.include(step)) {
      steps.push_back(step);
    }
  }
  return steps;
}

TEST(EvaluationTimes, AreTheMultiplesOfANumberOfSteps) {
  EXPECT_THAT(steps_of({.every_steps = 5}, 9), testing::ElementsAre(5, 10));
}

TEST(EvaluationTimes, AreTheGivenStepsInAnyOrder) {
  EXPECT_THAT(steps_of({.at_steps = {7, 2, 100, 0}}, 9), testing::ElementsAre(2, 7));
}

TEST(EvaluationTimes, AreTheStepsThatCompleteEpochs) {
  // Epoch 1 ends within step 3, and epoch 2 with step 5; the last epoch is left to the end.
  EXPECT_THAT(steps_of({.every_epochs = 1}, 4), testing::ElementsAre(3, 5, 8));
  EXPECT_THAT(steps_of({.at_epochs = {2, 0.4, 1e300}}, 4), testing::ElementsAre(1, 5));
}

TEST(EvaluationTimes, AreAllStepsIfAPeriodIsShorterThanAStep) {
  EXPECT_THAT(steps_of({.every_epochs = 1e-15}, 4, 4), testing::ElementsAre(1, 2, 3, 4));
}

TEST(EvaluationSettings, DoNotFoldTheVariablesOfTheTraining) {
  RunSettings training = settings_for(
      {"--model=resnet20", "--freeze_when_forward_only", "--eval_during_training_every_n_steps=2"});
  EXPECT_FALSE(evaluation_settings(training).workload.frozen());
}

TEST(EvaluationSettings, NameTheFlagOfTooFewEpochs) {
  EXPECT_THAT(settings_refusal({"--model=lenet", "--eval", "--init_from=x.safetensors",
                                "--num_eval_epochs=0.00001"}),
              testing::StartsWith("--num_eval_epochs=1e-05: less than one example"));
}

}  // namespace
}  // namespace bench
