#include "kernels/step_state.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

/// One step with or without a gradient that is not finite.
void take(StepState& state, const LossScaleRule& rule, bool finite) {
  state.finite = finite ? 1 : 0;
  finish_step(state, rule);
}

StepState scaled(double scale) {
  StepState state;
  state.set_loss_scale(scale);
  return state;
}

TEST(StepState, KeepsALossScaleThatIsNotAutomatic) {
  StepState state = scaled(128);
  take(state, {}, true);
  EXPECT_EQ(state.loss_scale, 128);
  EXPECT_EQ(state.updates, 1);
}

TEST(StepState, HalvesTheLossScaleAndSkipsWhereAGradientIsNotFinite) {
  const LossScaleRule rule{.automatic = true};
  StepState state = scaled(128);
  take(state, rule, false);
  EXPECT_EQ(state.loss_scale, 64);
  take(state, rule, false);
  EXPECT_EQ(state.loss_scale, 32);
  EXPECT_EQ(state.narrow_loss_scale, 32);
  EXPECT_EQ(state.skipped, 2);
  EXPECT_EQ(state.updates, 0);
}

TEST(StepState, DoublesTheLossScaleAfterOneStepMoreThanAskedInARow) {
  const LossScaleRule rule{.automatic = true, .increase_every = 3};
  StepState state = scaled(128);
  for (int step = 0; step < 3; ++step) {
    take(state, rule, true);
    EXPECT_EQ(state.loss_scale, 128);
  }
  take(state, rule, true);
  EXPECT_EQ(state.loss_scale, 256);
}

TEST(StepState, CountsGoodStepsAgainAfterABadOne) {
  const LossScaleRule rule{.automatic = true, .increase_every = 2};
  StepState state = scaled(128);
  for (const bool finite : {true, true, false, true, true}) {
    take(state, rule, finite);
  }
  EXPECT_EQ(state.loss_scale, 64);
  take(state, rule, true);
  EXPECT_EQ(state.loss_scale, 128);
}

TEST(StepState, ChecksEachStepSeparately) {
  StepState state;
  take(state, {}, false);
  EXPECT_EQ(state.finite, 1);
}

}  // namespace
}  // namespace bench
