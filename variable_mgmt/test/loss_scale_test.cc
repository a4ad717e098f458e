#include "variable_mgmt/loss_scale.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(LossScaleTest, StaysWithoutAutomatic) {
  LossScale scale({.initial = 128});
  EXPECT_TRUE(scale.take(false));
  EXPECT_TRUE(scale.take(true));
  EXPECT_EQ(scale.value(), 128);
}

TEST(LossScaleTest, HalvesAndSkipsWhenAGradientIsNotFinite) {
  LossScale scale({.initial = 128, .automatic = true});
  EXPECT_FALSE(scale.take(false));
  EXPECT_EQ(scale.value(), 64);
  EXPECT_FALSE(scale.take(false));
  EXPECT_EQ(scale.value(), 32);
}

TEST(LossScaleTest, DoublesAfterOneStepMoreThanAskedInARow) {
  LossScale scale({.initial = 128, .automatic = true, .increase_every = 3});
  for (int step = 0; step < 3; ++step) {
    EXPECT_TRUE(scale.take(true));
    EXPECT_EQ(scale.value(), 128);
  }
  EXPECT_TRUE(scale.take(true));
  EXPECT_EQ(scale.value(), 256);
}

TEST(LossScaleTest, ABadStepStartsTheCountAnew) {
  LossScale scale({.initial = 128, .automatic = true, .increase_every = 2});
  scale.take(true);
  scale.take(true);
  scale.take(false);
  scale.take(true);
  scale.take(true);
  EXPECT_EQ(scale.value(), 64);
  scale.take(true);
  EXPECT_EQ(scale.value(), 128);
}

}  // namespace
}  // namespace bench
