#include "variable_mgmt/learning_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::int64_t kImagenet = 1281167;

LearningRate resnet(std::int64_t examples_per_step, std::int64_t summed_devices = 1,
                    double base = 0.128) {
  return LearningRate({.model = ModelRate::resnet,
                       .resnet_base = base,
                       .summed_devices = summed_devices,
                       .examples_per_step = examples_per_step,
                       .examples_per_epoch = kImagenet});
}

LearningRate requested(const LearningRateRequest& request, std::int64_t examples_per_step = 256,
                       std::int64_t examples_per_epoch = kImagenet) {
  return LearningRate({.model = ModelRate::resnet,
                       .examples_per_step = examples_per_step,
                       .examples_per_epoch = examples_per_epoch,
                       .request = request});
}

LearningRate of_model(ModelRate schedule, std::int64_t examples_per_step) {
  // The run's dataset does not matter here.
  return LearningRate(
      {.model = schedule, .examples_per_step = examples_per_step, .examples_per_epoch = 7});
}

// Runs `act` and returns the message of its UsageError.
template <class Act>
std::string usage_error(Act act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

TEST(LearningRate, IsConstantForAModelWithoutASchedule) {
  const LearningRate rate({});
  EXPECT_EQ(rate.at(0), 0.005);
  EXPECT_EQ(rate.at(1'000'000'000), 0.005);
  EXPECT_EQ(of_model(ModelRate::cifar_nasnet, 32).at(1'000'000'000), 0.025);
}

TEST(LearningRate, FallsTenfoldAtTheEpochsOfResnet) {
  const LearningRate rate = resnet(256);
  EXPECT_EQ(rate.at(0), 0);
  EXPECT_DOUBLE_EQ(rate.at(150136), 0.128);
  EXPECT_DOUBLE_EQ(rate.at(150137), 0.0128);
  EXPECT_DOUBLE_EQ(rate.at(300273), 0.0128);
  EXPECT_DOUBLE_EQ(rate.at(300274), 0.00128);
  EXPECT_DOUBLE_EQ(rate.at(400364), 0.00128);
  EXPECT_DOUBLE_EQ(rate.at(400365), 0.000128);
  EXPECT_DOUBLE_EQ(rate.at(450410), 0.000128);
  EXPECT_DOUBLE_EQ(rate.at(450411), 0.0000128);
  EXPECT_DOUBLE_EQ(rate.at(10'000'000), 0.0000128);
}

TEST(LearningRate, RampsUpOverFiveEpochsForResnet) {
  const LearningRate rate = resnet(256);
  EXPECT_DOUBLE_EQ(rate.at(1), 0.128 / 25022);
  EXPECT_DOUBLE_EQ(rate.at(12511), 0.064);
  EXPECT_LT(rate.at(25021), 0.128);
  EXPECT_DOUBLE_EQ(rate.at(25022), 0.128);
}

TEST(LearningRate, ScalesWithTheBatchForResnet) {
  const std::int64_t after_ramp_of_128 = 100'000;
  EXPECT_DOUBLE_EQ(resnet(128).at(after_ramp_of_128), 0.064);
  EXPECT_DOUBLE_EQ(resnet(2048, 8).at(10'000), 0.128);
  EXPECT_DOUBLE_EQ(resnet(512).at(50'000), 0.256);
  EXPECT_DOUBLE_EQ(resnet(13, 2).at(1'000'000), 0.00325);
  EXPECT_DOUBLE_EQ(resnet(256, 1, 0.05).at(100'000), 0.05);
}

TEST(LearningRate, HasNoRampForOfficialResnet) {
  const LearningRate rate = of_model(ModelRate::official_resnet, 256);
  EXPECT_DOUBLE_EQ(rate.at(0), 0.1);  // 0.0125 / 32 * 256
  EXPECT_DOUBLE_EQ(rate.at(150136), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(150137), 0.01);
  EXPECT_DOUBLE_EQ(rate.at(300274), 0.001);
  EXPECT_DOUBLE_EQ(rate.at(400365), 0.0001);
  EXPECT_DOUBLE_EQ(rate.at(450411), 0.00001);
  EXPECT_DOUBLE_EQ(of_model(ModelRate::official_resnet, 32).at(0), 0.0125);
}

TEST(LearningRate, ScalesWithTheImagesOfAnUpdateAndCountsEpochsOfAllImages) {
  // Two workers of parameter servers, with 128 images each.
  const LearningRateOptions options{
      .model = ModelRate::resnet, .examples_per_step = 256, .examples_per_update = 128};
  const LearningRate rate(options);
  const LearningRate joint({.model = ModelRate::resnet, .examples_per_step = 256});
  for (const std::int64_t step : {100, 50000, 200000, 400000}) {
    EXPECT_DOUBLE_EQ(rate.at(step), joint.at(step) / 2) << step;
  }
}

TEST(LearningRate, RampsUpAndFallsTwiceForSsd) {
  const LearningRate rate = of_model(ModelRate::ssd, 64);
  EXPECT_EQ(rate.at(0), 0);
  // Five epochs of 118287 images have 9241 whole steps.
  EXPECT_DOUBLE_EQ(rate.at(100), 0.002 * 100 / 9241);
  EXPECT_DOUBLE_EQ(rate.at(9241), 0.002);
  EXPECT_DOUBLE_EQ(rate.at(80000), 0.002);
  EXPECT_DOUBLE_EQ(rate.at(80001), 0.0002);
  EXPECT_DOUBLE_EQ(rate.at(100000), 0.0002);
  EXPECT_DOUBLE_EQ(rate.at(100001), 0.00002);
  const LearningRate summed(
      {.model = ModelRate::ssd, .summed_devices = 2, .examples_per_step = 64});
  EXPECT_DOUBLE_EQ(summed.at(9241), 0.001);
}

TEST(LearningRate, RoundsStepsPerEpochDownForCifarResnet) {
  // 50000 / 128 is 390.6, which is rounded down before the multiplication.
  const LearningRate rate = of_model(ModelRate::cifar_resnet, 128);
  EXPECT_DOUBLE_EQ(rate.at(0), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(390 * 82), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(390 * 82 + 1), 0.01);
  EXPECT_DOUBLE_EQ(rate.at(390 * 123), 0.01);
  EXPECT_DOUBLE_EQ(rate.at(390 * 123 + 1), 0.001);
  EXPECT_DOUBLE_EQ(rate.at(390 * 300), 0.001);
  EXPECT_DOUBLE_EQ(rate.at(390 * 300 + 1), 0.0002);
  EXPECT_DOUBLE_EQ(rate.at(10'000'000), 0.0002);
}

TEST(LearningRate, RoundsStepsPerEpochDownForCifarDensenet) {
  const LearningRate rate = of_model(ModelRate::cifar_densenet, 64);
  EXPECT_DOUBLE_EQ(rate.at(0), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(781 * 150), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(781 * 150 + 1), 0.01);
  EXPECT_DOUBLE_EQ(rate.at(781 * 225 + 1), 0.001);
  EXPECT_DOUBLE_EQ(rate.at(781 * 300), 0.001);
  EXPECT_DOUBLE_EQ(rate.at(781 * 300 + 1), 0.0001);
}

TEST(LearningRate, FallsTenfoldEveryHundredEpochsForCifarAlexnet) {
  const LearningRate rate = of_model(ModelRate::cifar_alexnet, 128);
  const std::int64_t steps = 5'000'000 / 128;  // 39062, where 100 * (50000 / 128) would be 39000
  EXPECT_DOUBLE_EQ(rate.at(0), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(steps - 1), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(steps), 0.01);
  EXPECT_DOUBLE_EQ(rate.at(3 * steps), 0.0001);
}

TEST(LearningRate, ExistsForCifarBatchesOfMoreThanAnEpoch) {
  EXPECT_DOUBLE_EQ(of_model(ModelRate::cifar_alexnet, 6'000'000).at(1), 0.01);
  EXPECT_DOUBLE_EQ(of_model(ModelRate::cifar_resnet, 60'000).at(0), 0.1);
  EXPECT_DOUBLE_EQ(of_model(ModelRate::cifar_resnet, 60'000).at(1), 0.0002);
}

TEST(LearningRate, DivisorAppliesToTheModelsRatesOnly) {
  for (const ModelRate schedule :
       {ModelRate::constant, ModelRate::resnet, ModelRate::official_resnet, ModelRate::cifar_resnet,
        ModelRate::cifar_alexnet, ModelRate::cifar_nasnet}) {
    LearningRateOptions options{.model = schedule, .examples_per_step = 64};
    const double rate = LearningRate(options).at(100000);
    options.model_divisor = 8;
    EXPECT_EQ(LearningRate(options).at(100000), rate / 8);
    options.request.init_learning_rate = 0.5;
    EXPECT_EQ(LearningRate(options).at(100000), 0.5);
  }
}

TEST(LearningRate, InitialRateReplacesTheModelsSchedule) {
  const LearningRate rate = requested({.init_learning_rate = 1});
  EXPECT_EQ(rate.at(0), 1);
  EXPECT_EQ(rate.at(10'000'000), 1);
}

TEST(LearningRate, InitialRateOfZeroIsKept) {
  EXPECT_EQ(requested({.init_learning_rate = 0}).at(100'000), 0);
}

TEST(LearningRate, RampLeadsToTheInitialRate) {
  const LearningRate rate = requested({.init_learning_rate = 1, .num_warmup_epochs = 5});
  EXPECT_EQ(rate.at(0), 0);
  EXPECT_DOUBLE_EQ(rate.at(12511), 0.5);
  EXPECT_DOUBLE_EQ(rate.at(25022), 1);
}

TEST(LearningRate, RampOfTheUserDoesNothingToTheModelsSchedule) {
  const LearningRate rate = requested({.num_warmup_epochs = 50});
  EXPECT_DOUBLE_EQ(rate.at(25022), 0.128);
}

TEST(LearningRate, DecaysByStairs) {
  // 7.5 steps per epoch, so 15 steps per two epochs.
  const LearningRate rate =
      requested({.init_learning_rate = 2, .num_epochs_per_decay = 2, .decay_factor = 0.5}, 4, 30);
  EXPECT_EQ(rate.at(14), 2);
  EXPECT_EQ(rate.at(15), 1);
  EXPECT_EQ(rate.at(29), 1);
  EXPECT_EQ(rate.at(30), 0.5);
}

TEST(LearningRate, StepsPerDecayAreRoundedDown) {
  const LearningRate rate =
      requested({.init_learning_rate = 2, .num_epochs_per_decay = 1, .decay_factor = 0.5}, 4, 30);
  EXPECT_EQ(rate.at(6), 2);
  EXPECT_EQ(rate.at(7), 1);
}

TEST(LearningRate, DecaysToTheMinimum) {
  const LearningRate rate = requested({.init_learning_rate = 2,
                                       .num_epochs_per_decay = 2,
                                       .decay_factor = 0.5,
                                       .minimum_learning_rate = 0.75},
                                      4, 30);
  EXPECT_EQ(rate.at(15), 1);
  EXPECT_EQ(rate.at(30), 0.75);
  EXPECT_EQ(rate.at(3000), 0.75);
}

// 8 steps per epoch: a warm-up of 8 steps, then a decay of 16.
LearningRate smooth(DecayCurve curve, double power = 2) {
  return requested({.init_learning_rate = 2,
                    .curve = curve,
                    .num_epochs_per_decay = 2,
                    .minimum_learning_rate = 0.5,
                    .power = power,
                    .num_warmup_epochs = 1},
                   4, 32);
}

TEST(LearningRate, CosineFallsFromTheEndOfTheWarmUpToTheMinimum) {
  const LearningRate rate = smooth(DecayCurve::cosine);
  EXPECT_DOUBLE_EQ(rate.at(4), 1);
  EXPECT_DOUBLE_EQ(rate.at(8), 2);
  EXPECT_DOUBLE_EQ(rate.at(12), 0.5 + 1.5 * (1 + std::sqrt(0.5)) / 2);
  EXPECT_DOUBLE_EQ(rate.at(16), 1.25);
  EXPECT_DOUBLE_EQ(rate.at(24), 0.5);
  EXPECT_DOUBLE_EQ(rate.at(1000), 0.5);
}

TEST(LearningRate, PolynomialFallsWithItsPower) {
  EXPECT_DOUBLE_EQ(smooth(DecayCurve::polynomial).at(16), 0.5 + 1.5 * 0.25);
  EXPECT_DOUBLE_EQ(smooth(DecayCurve::polynomial, 1).at(12), 0.5 + 1.5 * 0.75);
  EXPECT_DOUBLE_EQ(smooth(DecayCurve::polynomial, 1).at(24), 0.5);
}

TEST(LearningRate, SmoothCurvesAreNeverConstantForLong) {
  const LearningRate rate = requested(
      {.init_learning_rate = 2, .curve = DecayCurve::cosine, .num_epochs_per_decay = 2}, 4, 32);
  EXPECT_TRUE(rate.is_constant_through(0));
  EXPECT_FALSE(rate.is_constant_through(1));
}

TEST(LearningRate, RefusesCurvesThatAreIncomplete) {
  const auto error = [](const LearningRateRequest& request) {
    return usage_error([&] { check_decay(request); });
  };
  EXPECT_EQ(error({.curve = DecayCurve::cosine, .num_epochs_per_decay = 2}),
            "--learning_rate_schedule=cosine needs --init_learning_rate and "
            "--num_epochs_per_decay above 0, the epochs until the lowest rate");
  EXPECT_EQ(error({.init_learning_rate = 1, .curve = DecayCurve::polynomial}),
            "--learning_rate_schedule=polynomial needs --init_learning_rate and "
            "--num_epochs_per_decay above 0, the epochs until the lowest rate");
  EXPECT_EQ(error({.init_learning_rate = 1,
                   .curve = DecayCurve::cosine,
                   .num_epochs_per_decay = 2,
                   .decay_factor = 0.5}),
            "--learning_rate_decay_factor=0.5 is for --learning_rate_schedule=exponential, not "
            "cosine");
  EXPECT_EQ(error({.init_learning_rate = 1,
                   .curve = DecayCurve::cosine,
                   .num_epochs_per_decay = 2,
                   .minimum_learning_rate = 3}),
            "--minimum_learning_rate=3 is above --init_learning_rate; accepted: 0 to 1");
}

TEST(LearningRate, PiecewiseRateChangesAtItsEpochs) {
  // 7.5 steps per epoch: boundaries int(15) - 1 and int(22.5) - 1.
  const LearningRate rate = requested({.piecewise_schedule = "0.5;2;0.25;3;0.125"}, 4, 30);
  EXPECT_EQ(rate.at(0), 0.5);
  EXPECT_EQ(rate.at(14), 0.5);
  EXPECT_EQ(rate.at(15), 0.25);
  EXPECT_EQ(rate.at(21), 0.25);
  EXPECT_EQ(rate.at(22), 0.125);
  EXPECT_EQ(rate.at(1'000'000), 0.125);
}

TEST(LearningRate, PiecewiseRateMayHaveOnePiece) {
  EXPECT_EQ(requested({.piecewise_schedule = "1e-1"}).at(7), 0.1);
}

TEST(LearningRate, PiecewiseRateRampsToItsFirstValue) {
  const LearningRate rate =
      requested({.piecewise_schedule = "0.5;2;0.25", .num_warmup_epochs = 1}, 3, 30);
  EXPECT_EQ(rate.at(0), 0);
  EXPECT_EQ(rate.at(5), 0.25);
  EXPECT_EQ(rate.at(10), 0.5);
}

TEST(LearningRate, RefusesHalfADecay) {
  const auto refusal = [](const LearningRateRequest& request) {
    return usage_error([&] { requested(request); });
  };
  using testing::HasSubstr;
  const std::string both = "--num_epochs_per_decay and --learning_rate_decay_factor must both";
  EXPECT_THAT(refusal({.init_learning_rate = 1, .decay_factor = 0.5}), HasSubstr(both));
  EXPECT_THAT(refusal({.init_learning_rate = 1, .num_epochs_per_decay = 1}), HasSubstr(both));
  EXPECT_THAT(refusal({.num_epochs_per_decay = 1, .decay_factor = 0.5}), HasSubstr(both));
  EXPECT_THAT(refusal({.init_learning_rate = 1, .minimum_learning_rate = 0.1}),
              HasSubstr("--minimum_learning_rate needs"));
}

TEST(LearningRate, RefusesADecayShorterThanAStep) {
  EXPECT_THAT(usage_error([] {
                requested(
                    {.init_learning_rate = 1, .num_epochs_per_decay = 0.1, .decay_factor = 0.5}, 4,
                    30);
              }),
              testing::HasSubstr("shorter than one step of 4 examples"));
}

TEST(LearningRate, RefusesTwoSchedules) {
  const std::string piecewise = "0.5;2;0.25";
  for (const LearningRateRequest& request :
       {LearningRateRequest{.init_learning_rate = 1, .piecewise_schedule = piecewise},
        LearningRateRequest{.piecewise_schedule = piecewise, .num_epochs_per_decay = 1},
        LearningRateRequest{.piecewise_schedule = piecewise, .decay_factor = 1},
        LearningRateRequest{.piecewise_schedule = piecewise, .minimum_learning_rate = 1}}) {
    EXPECT_THAT(usage_error([&] { check_piecewise(request); }),
                testing::HasSubstr("cannot be combined"));
  }
}

TEST(LearningRate, RefusesSchedulesThatDoNotParse) {
  const auto refusal = [](const std::string& text) {
    return usage_error([&] { requested({.piecewise_schedule = text}); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal("0.5;2"), HasSubstr("the last epoch has no rate after it"));
  EXPECT_THAT(refusal("a"), HasSubstr("'a' is not a rate"));
  EXPECT_THAT(refusal(""), HasSubstr("'' is not a rate"));
  EXPECT_THAT(refusal("0.5;;0.25"), HasSubstr("'' is not an epoch"));
  EXPECT_THAT(refusal("0.5;2.5;0.25"), HasSubstr("'2.5' is not an epoch"));
  EXPECT_THAT(refusal("0.5;-2;0.25"), HasSubstr("'-2' is not an epoch"));
  EXPECT_THAT(refusal("nan"), HasSubstr("'nan' is not a rate"));
  EXPECT_THAT(refusal("0.5;3;0.25;3;0.1"), HasSubstr("the epochs do not increase"));
}

}  // namespace
}  // namespace bench
