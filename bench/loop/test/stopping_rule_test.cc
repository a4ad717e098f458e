#include "bench/loop/stopping_rule.h"

#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "results/environment/test/fake_clock.h"

namespace bench {
namespace {

using std::chrono::milliseconds;

/// A rule that has just begun, with a clock and an interrupt that tests control.
struct Rule {
  explicit Rule(const StepLimits& limits) : rule(limits, clock, [this] { return interrupted; }) {
    rule.begin();
  }
  /// The decision of the rule after a further `time` has passed.
  Stop warmup_after(milliseconds time, std::int64_t done) {
    clock.advance(time);
    return rule.after_warmup_steps(done);
  }
  Stop after(milliseconds time, std::int64_t done) {
    clock.advance(time);
    return rule.after_steps(done);
  }

  FakeClock clock;
  bool interrupted = false;
  StoppingRule rule;
};

constexpr milliseconds kNow{0};

TEST(StoppingRule, EndsWarmUpAndMeasuringAfterTheStepsAskedFor) {
  Rule rule({.warmup_steps = 2, .steps = 3});
  EXPECT_EQ(rule.warmup_after(kNow, 1), Stop::none);
  EXPECT_EQ(rule.warmup_after(kNow, 2), Stop::complete);
  EXPECT_EQ(rule.after(kNow, 2), Stop::none);
  EXPECT_EQ(rule.after(kNow, 3), Stop::complete);
}

TEST(StoppingRule, NeedsNoWarmUp) {
  EXPECT_EQ(Rule({.warmup_steps = 0}).warmup_after(kNow, 0), Stop::complete);
}

TEST(StoppingRule, GivesWarmUpAQuarterOfTheTimeButTwoSteps) {
  const StepLimits limits{.warmup_steps = 10, .time = milliseconds(100)};
  Rule quick(limits);
  EXPECT_EQ(quick.warmup_after(milliseconds(25), 5), Stop::none);
  EXPECT_EQ(quick.warmup_after(milliseconds(1), 6), Stop::complete);
  Rule slow(limits);
  EXPECT_EQ(slow.warmup_after(milliseconds(1000), 1), Stop::none);
  EXPECT_EQ(slow.warmup_after(kNow, 2), Stop::complete);
}

TEST(StoppingRule, EndsWithTheStepThatExceedsTheTimeLimit) {
  Rule rule({.steps = 100, .time = milliseconds(100)});
  EXPECT_EQ(rule.warmup_after(milliseconds(60), 0), Stop::complete);
  rule.rule.begin_measuring();
  EXPECT_EQ(rule.after(milliseconds(39), 1), Stop::none);
  EXPECT_EQ(rule.after(milliseconds(1), 2), Stop::out_of_time);
}

TEST(StoppingRule, IsCompleteWhateverElseWouldEndItsLastStep) {
  Rule rule({.steps = 5, .time = milliseconds(1), .enough = StepLimits::Enough{.steps = 1}});
  rule.interrupted = true;
  EXPECT_EQ(rule.after(milliseconds(10), 5), Stop::complete);
}

TEST(StoppingRule, EndsWhereItIsInterrupted) {
  Rule rule({.warmup_steps = 2, .steps = 5, .enough = StepLimits::Enough{.steps = 1}});
  rule.interrupted = true;
  EXPECT_EQ(rule.warmup_after(kNow, 1), Stop::interrupted);
  EXPECT_EQ(rule.warmup_after(kNow, 2), Stop::interrupted);
  EXPECT_EQ(rule.after(kNow, 1), Stop::interrupted);
}

TEST(StoppingRule, IgnoresInterruptsBeforeTheFirstStep) {
  Rule rule({.warmup_steps = 2});
  rule.interrupted = true;
  EXPECT_EQ(rule.warmup_after(kNow, 0), Stop::none);
}

TEST(StoppingRule, HasEnoughOnlyWithBothTheStepsAndTheirTime) {
  Rule rule({.steps = 1000, .enough = StepLimits::Enough{.steps = 5, .time = milliseconds(100)}});
  rule.clock.advance(milliseconds(500));
  rule.rule.begin_measuring();
  EXPECT_EQ(rule.after(milliseconds(99), 5), Stop::none);
  EXPECT_EQ(rule.after(milliseconds(1), 4), Stop::none);
  EXPECT_EQ(rule.after(kNow, 5), Stop::enough);
}

TEST(StoppingRule, RefusesARunWithoutAStep) {
  const FakeClock clock;
  EXPECT_THROW(StoppingRule({.steps = 0}, clock, [] { return false; }), InternalError);
}

}  // namespace
}  // namespace bench
