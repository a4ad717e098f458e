#include "bench/loop/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "bench/host/test/fake_clock.h"
#include "bench/plan/network.h"
#include "kernels/reference/reference_backend.h"
#include "models/zoo/builder.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kImageSize = 4;
constexpr const char* kRule = "----------------------------------------------------------------\n";

ValueId build_tiny(NetworkBuilder& net, ValueId images) {
  const ValueId x = net.conv("conv", images, {.channels = 2, .window = {.kernel = 1}});
  return net.head(net.spatial_mean("mean", x));
}

constexpr Model kTiny{.name = "tiny",
                      .printed_name = "tiny",
                      .dataset = "imagenet",
                      .image_size = kImageSize,
                      .default_batch = 2,
                      .rate = ModelRate::constant,
                      .build = build_tiny};

/// Hands out one and the same batch; each call takes the time that stands next in the list.
class FakeInput final : public InputSource {
 public:
  FakeInput(FakeClock& clock, const RunSettings& settings, std::vector<milliseconds> waits)
      : clock_(clock),
        waits_(std::move(waits)),
        images_(static_cast<std::size_t>(settings.batch * 3 * kImageSize * kImageSize), 1),
        labels_(static_cast<std::size_t>(settings.batch)) {}

  InputBatch next() override {
    clock_.advance(waits_.at(calls_ % waits_.size()));
    if (spoil_from && calls_ >= *spoil_from) {
      images_[0] = std::numeric_limits<float>::quiet_NaN();
    }
    ++calls_;
    return {.images = images_.data(), .labels = labels_.data()};
  }
  [[nodiscard]] InputStatistics statistics() const override { return {}; }
  [[nodiscard]] std::size_t calls() const { return calls_; }
  [[nodiscard]] std::vector<std::int32_t>& labels() { return labels_; }

  /// From this call on (counted from 0) an image holds a NaN.
  std::optional<std::size_t> spoil_from = {};

 private:
  FakeClock& clock_;
  std::vector<milliseconds> waits_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::size_t calls_ = 0;
};

/// A run of the tiny network on the reference backend. Weights begin with zeros, but for those of
/// the last layer, which are all equal, so that every class is as likely as any other: the loss is
/// the logarithm of their number.
struct TinyRun {
  RunSettings settings = {};
  std::vector<milliseconds> waits = {milliseconds(100)};
  std::vector<float> last_biases = {};
  std::vector<std::int32_t> labels = {};
  std::optional<std::size_t> spoil_from = {};
  std::function<bool(std::size_t steps)> interrupted = [](std::size_t) { return false; };
  /// What passes between two steps.
  milliseconds between{};

  std::ostringstream out = {};
  std::ostringstream progress = {};
  SessionResult result = {};
  std::size_t calls = 0;

  TinyRun() {
    settings.model = &kTiny;
    settings.dataset = &dataset_named("imagenet");
    settings.device = "reference";
    settings.batch = 2;
    settings.num_classes = 4;
    settings.warmup.num_batches = 0;
    settings.steps = {.num_batches = 3, .num_epochs = 0};
    settings.flags.weight_decay = 0.25;
    settings.optimizer.weight_decay = 0.25;
    settings.learning_rate.request.init_learning_rate = 0;
  }

  void run() {
    const auto backend = make_reference_backend();
    const Graph graph = build_run_graph(settings, *backend, settings.batch);
    InitialValues values = initial_values(graph, 1);
    for (auto& [name, elements] : values) {
      const float value = name == "fc.weight" ? 0.5F : 0.0F;
      elements.assign(elements.size(), value);
    }
    if (!last_biases.empty()) {
      values.at("fc.bias") = last_biases;
    }
    Tower tower(graph, *backend, {.format = DataFormat::automatic, .poison = true}, values);
    std::unique_ptr<UpdateStrategy> strategy;
    if (settings.training()) {
      const std::array<Tower*, 1> towers{&tower};
      strategy = find_strategy("parameter_server").make(towers, settings.optimizer);
    }
    FakeClock clock;
    FakeInput input(clock, settings, waits);
    input.spoil_from = spoil_from;
    if (!labels.empty()) {
      input.labels() = labels;
    }
    const auto ask = [&] {
      clock.advance(between);
      return interrupted(input.calls());
    };
    const SessionParts parts{.tower = tower,
                             .strategy = strategy.get(),
                             .input = input,
                             .clock = clock,
                             .interrupted = ask,
                             .out = out,
                             .progress = progress};
    try {
      run_session(settings, parts, result);
    } catch (...) {
      calls = input.calls();
      throw;
    }
    calls = input.calls();
  }
};

TEST(Session, PrintsTheLinesOfTheOriginal) {
  TinyRun tiny;
  tiny.settings.batch = 32;
  tiny.settings.warmup.num_batches = 1;
  tiny.settings.flags.display_every = 1;
  tiny.waits = {milliseconds(700), milliseconds(100), milliseconds(200), milliseconds(100)};
  tiny.run();
  EXPECT_EQ(tiny.out.str(), cat("Running warm up\n"
                                "Done warm up\n"
                                "Step\tImg/sec\ttotal_loss\n"
                                "1\timages/sec: 320.0 +/- 0.0 (jitter = 0.0)\t1.636\n"
                                "2\timages/sec: 213.3 +/- 56.6 (jitter = 118.6)\t1.636\n"
                                "3\timages/sec: 240.0 +/- 43.5 (jitter = 0.0)\t1.636\n",
                                kRule, "total images/sec: 240.00\n", kRule));
  EXPECT_THAT(tiny.result.steps,
              ElementsAre(milliseconds(100), milliseconds(200), milliseconds(100)));
  EXPECT_EQ(tiny.result.input_wait, milliseconds(400));
  EXPECT_EQ(tiny.result.wall, milliseconds(400));
  EXPECT_FALSE(tiny.result.interrupted);
}

TEST(Session, PrintsTheFirstStepAndEveryStepThatDisplayEveryDivides) {
  TinyRun tiny;
  tiny.settings.steps.num_batches = 7;
  tiny.settings.flags.display_every = 3;
  tiny.run();
  const std::string speed = "\timages/sec: 20.0 +/- 0.0 (jitter = 0.0)\t1.636\n";
  EXPECT_EQ(tiny.out.str(),
            cat("Running warm up\nDone warm up\nStep\tImg/sec\ttotal_loss\n1", speed, "3", speed,
                "6", speed, kRule, "total images/sec: 20.00\n", kRule));
}

TEST(Session, WarmsUpAsOftenAsAskedWithoutCountingIt) {
  TinyRun tiny;
  tiny.settings.warmup.num_batches = 5;
  tiny.run();
  EXPECT_EQ(tiny.calls, 8U);
  EXPECT_EQ(tiny.result.warmup_steps, 5);
  EXPECT_EQ(tiny.result.steps.size(), 3U);
  EXPECT_EQ(tiny.result.wall, milliseconds(300));
}

TEST(Session, TakesTheTotalFromWallTimeAndTheLinesFromStepTimes) {
  TinyRun tiny;
  tiny.between = milliseconds(50);
  tiny.settings.flags.display_every = 3;
  tiny.run();
  // Nothing is asked after the last step.
  EXPECT_EQ(tiny.result.wall, milliseconds(400));
  EXPECT_THAT(tiny.out.str(), HasSubstr("3\timages/sec: 20.0 "));
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: 15.00\n"));
}

TEST(Session, EndsInTheStepInWhichTheTimeIsOverAndPrintsTheTotal) {
  TinyRun tiny;
  tiny.settings.warmup.num_batches = 10;
  tiny.settings.steps.num_batches = 1000;
  tiny.settings.flags.max_seconds = 1.05;
  tiny.run();
  EXPECT_TRUE(tiny.result.out_of_time);
  // Warm-up is over once more than a quarter of the time, 262.5 ms, has passed.
  EXPECT_EQ(tiny.result.warmup_steps, 3);
  EXPECT_EQ(tiny.result.steps.size(), 8U);
  EXPECT_FALSE(tiny.result.interrupted);
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: 20.00\n"));
}

TEST(Session, TakesMoreStepsThanMemoryCouldHoldWhenTimeBoundsThem) {
  TinyRun tiny;
  tiny.settings.steps.num_batches = std::numeric_limits<std::int64_t>::max();
  tiny.settings.flags.max_seconds = 0.35;
  tiny.run();
  EXPECT_EQ(tiny.result.steps.size(), 4U);
}

TEST(Session, WarmsUpTwiceAndMeasuresOnceHoweverShortTheTime) {
  TinyRun tiny;
  tiny.settings.warmup.num_batches = 10;
  tiny.settings.flags.max_seconds = 0.001;
  tiny.run();
  EXPECT_EQ(tiny.result.warmup_steps, 2);
  EXPECT_EQ(tiny.result.steps.size(), 1U);
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: "));
}

TEST(Session, EndsAfterTheStepInHandWhenInterruptedWithoutATotal) {
  TinyRun tiny;
  tiny.settings.warmup.num_batches = 1;
  tiny.settings.steps.num_batches = 100;
  tiny.interrupted = [](std::size_t steps) { return steps >= 3; };
  tiny.run();
  EXPECT_TRUE(tiny.result.interrupted);
  EXPECT_EQ(tiny.result.steps.size(), 2U);
  EXPECT_EQ(tiny.calls, 3U);
  EXPECT_EQ(tiny.out.str(),
            "Running warm up\nDone warm up\nStep\tImg/sec\ttotal_loss\n"
            "1\timages/sec: 20.0 +/- 0.0 (jitter = 0.0)\t1.636\n");
}

TEST(Session, EndsInTheWarmUpWhenInterruptedThere) {
  TinyRun tiny;
  tiny.settings.warmup.num_batches = 10;
  tiny.interrupted = [](std::size_t steps) { return steps >= 2; };
  tiny.run();
  EXPECT_TRUE(tiny.result.interrupted);
  EXPECT_EQ(tiny.calls, 2U);
  EXPECT_TRUE(tiny.result.steps.empty());
  EXPECT_EQ(tiny.out.str(), "Running warm up\n");
}

TEST(Session, IsCompleteWhenInterruptedInItsLastStep) {
  TinyRun tiny;
  tiny.interrupted = [](std::size_t steps) { return steps >= 3; };
  tiny.run();
  EXPECT_FALSE(tiny.result.interrupted);
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: "));
}

TEST(Session, StopsAtALossThatIsNotFiniteAndKeepsWhatWasMeasured) {
  TinyRun tiny;
  tiny.settings.steps.num_batches = 10;
  tiny.settings.warmup.num_batches = 2;
  tiny.spoil_from = 4;
  try {
    tiny.run();
    FAIL() << "the loss is taken for finite";
  } catch (const LossError& error) {
    EXPECT_STREQ(error.what(),
                 "the loss is nan after 5 steps; a lower learning rate (--init_learning_rate) may "
                 "help");
  }
  EXPECT_EQ(tiny.calls, 5U);
  EXPECT_EQ(tiny.result.steps.size(), 2U);
  EXPECT_NEAR(tiny.result.loss_last.value(), std::log(4) + 0.25, 1e-6);
  EXPECT_THAT(tiny.out.str(), testing::Not(HasSubstr("total images/sec")));
}

TEST(Session, StopsAtALossThatIsNotFiniteInTheWarmUpToo) {
  TinyRun tiny;
  tiny.settings.warmup.num_batches = 2;
  tiny.spoil_from = 1;
  EXPECT_THROW(tiny.run(), LossError);
  EXPECT_EQ(tiny.calls, 2U);
}

TEST(Session, DoesNotBlameTheLearningRateForALossBeforeAnyUpdate) {
  TinyRun tiny;
  tiny.settings.warmup.num_batches = 0;
  tiny.spoil_from = 0;
  try {
    tiny.run();
    FAIL() << "the loss is taken for finite";
  } catch (const LossError& error) {
    EXPECT_THAT(error.what(), HasSubstr("in the first step, before any update"));
  }
}

TEST(Session, OfForwardOnlyFailsForLogitsThatAreNoNumbers) {
  TinyRun tiny;
  tiny.settings.flags.forward_only = true;
  tiny.run();
  EXPECT_THAT(tiny.out.str(), HasSubstr("total images/sec: "));
  TinyRun spoiled;
  spoiled.settings.flags.forward_only = true;
  spoiled.last_biases = {0, 0, std::numeric_limits<float>::quiet_NaN(), 0};
  EXPECT_THROW(spoiled.run(), LossError);
  EXPECT_EQ(spoiled.result.steps.size(), 3U);
  EXPECT_THAT(spoiled.out.str(), testing::Not(HasSubstr("total images/sec: ")));
}

TEST(Session, AddsAccuraciesOnRequest) {
  TinyRun tiny;
  tiny.settings.num_classes = 7;
  tiny.settings.flags.print_training_accuracy = true;
  tiny.settings.steps.num_batches = 1;
  tiny.last_biases = {7, 6, 5, 4, 3, 2, 1};
  tiny.labels = {0, 4};
  tiny.run();
  EXPECT_THAT(tiny.out.str(), HasSubstr("Step\tImg/sec\ttotal_loss\ttop_1_accuracy\t"
                                        "top_5_accuracy\n1\timages/sec: 20.0 +/- 0.0 (jitter = "
                                        "0.0)\t"));
  EXPECT_THAT(tiny.out.str(), HasSubstr("\t0.500\t1.000\n"));
  EXPECT_EQ(tiny.result.top_1, 0.5);
  EXPECT_EQ(tiny.result.top_5, 1.0);
}

TEST(Session, PrintsAZeroLossAndAccuraciesWhenItOnlyRunsForward) {
  TinyRun tiny;
  tiny.settings.flags.forward_only = true;
  tiny.settings.num_classes = 7;
  tiny.settings.steps.num_batches = 1;
  tiny.last_biases = {7, 6, 5, 4, 3, 2, 1};
  tiny.labels = {6, 4};
  tiny.run();
  EXPECT_EQ(tiny.out.str(), cat("Running warm up\nDone warm up\n"
                                "Step\tImg/sec\ttotal_loss\ttop_1_accuracy\ttop_5_accuracy\n"
                                "1\timages/sec: 20.0 +/- 0.0 (jitter = 0.0)\t0.000\t0.000\t0.500\n",
                                kRule, "total images/sec: 20.00\n", kRule));
  EXPECT_EQ(tiny.result.loss_last, std::nullopt);
}

TEST(Session, WeighsRecentStepsMoreWithDisplayPerfEwma) {
  TinyRun tiny;
  tiny.settings.batch = 64;
  tiny.settings.steps.num_batches = 4;
  tiny.settings.flags.display_every = 4;
  tiny.waits = {milliseconds(500), milliseconds(400), milliseconds(250), milliseconds(200)};
  tiny.settings.flags.display_perf_ewma = 0.5;
  tiny.run();
  EXPECT_THAT(tiny.out.str(), HasSubstr("4\timages/sec: 246.2 +/- 38.2 (jitter = 94.9)\t"));
}

TEST(Session, ReportsTheTotalLossAsBaseLossAndL2Term) {
  TinyRun total;
  total.run();
  TinyRun base;
  base.settings.flags.loss_type_to_report = "base_loss";
  base.run();
  EXPECT_THAT(base.out.str(), HasSubstr("Step\tImg/sec\tbase_loss\n"));
  EXPECT_THAT(base.out.str(), HasSubstr(")\t1.386\n"));
  // Half the sum of eight weights' squares is 1; the coefficient is 0.25.
  EXPECT_EQ(total.result.loss_first.value() - base.result.loss_first.value(), 0.25);
}

TEST(Session, UpdatesTheVariablesInEveryStepWarmUpIncluded) {
  TinyRun tiny;
  tiny.settings.learning_rate.request.init_learning_rate = 0.5;
  tiny.settings.flags.loss_type_to_report = "base_loss";
  tiny.settings.warmup.num_batches = 1;
  tiny.run();
  EXPECT_LT(tiny.result.loss_first.value(), std::log(4) - 0.1);
  EXPECT_LT(tiny.result.loss_last.value(), tiny.result.loss_first.value() - 0.1);
  EXPECT_EQ(tiny.result.global_steps(), 4);
}

TEST(Session, KeepsTheLossOfEveryMeasuredStep) {
  TinyRun tiny;
  tiny.settings.learning_rate.request.init_learning_rate = 0.5;
  tiny.settings.warmup.num_batches = 1;
  tiny.run();
  ASSERT_EQ(tiny.result.losses.size(), 3U);
  EXPECT_EQ(tiny.result.losses.front(), tiny.result.loss_first);
  EXPECT_GT(tiny.result.losses[0], tiny.result.losses[1]);
  EXPECT_EQ(tiny.result.losses.back(), tiny.result.loss_last);

  TinyRun forward;
  forward.settings.flags.forward_only = true;
  forward.settings.num_classes = 7;
  forward.run();
  EXPECT_TRUE(forward.result.losses.empty());
}

TEST(Session, LearnsWithEveryOptimizer) {
  std::vector<std::vector<double>> courses;
  for (const OptimizerRule& rule : {OptimizerRule(SgdRule{}), OptimizerRule(MomentumRule{}),
                                    OptimizerRule(RmspropRule{}), OptimizerRule(AdamRule{})}) {
    TinyRun tiny;
    tiny.settings.optimizer.rule = rule;
    tiny.settings.learning_rate.request.init_learning_rate = 0.125;
    tiny.run();
    const std::vector<double>& losses = tiny.result.losses;
    EXPECT_LT(losses[1], losses[0]) << row_of(rule).name;
    EXPECT_LT(losses[2], losses[1]) << row_of(rule).name;
    EXPECT_THAT(courses, Not(Contains(losses))) << row_of(rule).name;
    courses.push_back(losses);
  }
}

/// Three steps that learn, in 16 bits.
SessionResult train_in(DType dtype, double loss_scale, bool automatic) {
  TinyRun tiny;
  tiny.settings.dtype = dtype;
  tiny.settings.learning_rate.request.init_learning_rate = 0.5;
  tiny.settings.flags.fp16_loss_scale = loss_scale;
  tiny.settings.flags.fp16_enable_auto_loss_scale = automatic;
  tiny.settings.flags.loss_type_to_report = "base_loss";
  tiny.run();
  return tiny.result;
}

// A power of two changes exponents only, so that nothing is rounded otherwise.
TEST(Session, TakesTheLossScaleOutOfTheUpdateAgain) {
  const std::vector<double> plain = train_in(DType::bf16, 1, false).losses;
  EXPECT_LT(plain[2], plain[0] - 0.1);
  EXPECT_EQ(train_in(DType::bf16, 1024, false).losses, plain);
}

TEST(Session, LeavesTheVariablesAloneWhereTheLossScaleMakesAGradientInfinite) {
  // In f16, 2^24 overflows in the first two steps, and in the third at half of half of it.
  const SessionResult result = train_in(DType::f16, std::ldexp(1, 24), true);
  EXPECT_EQ(result.losses[1], result.losses[0]);
  EXPECT_EQ(result.losses[2], result.losses[0]);
  EXPECT_GE(result.skipped_updates, 2);
}

TEST(Session, CountsNoUpdateThatTheLossScaleSkips) {
  const auto train = [](double loss_scale) {
    TinyRun tiny;
    tiny.settings.dtype = DType::f16;
    tiny.settings.optimizer.rule = AdamRule{};
    tiny.settings.steps.num_batches = 6;
    tiny.settings.learning_rate.request.init_learning_rate = 0.125;
    tiny.settings.flags.fp16_loss_scale = loss_scale;
    tiny.settings.flags.fp16_enable_auto_loss_scale = true;
    tiny.settings.flags.loss_type_to_report = "base_loss";
    tiny.run();
    return tiny.result;
  };
  // Each skip halves the scale, which changes exponents only.
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
