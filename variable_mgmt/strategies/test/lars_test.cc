#include <gtest/gtest.h>

#include <array>

#include "kernels/reference/reference_backend.h"
#include "variable_mgmt/learning_rate.h"

namespace bench {
namespace {

/// Sums of i * w[i], with i from 1, after each of 20 steps of LARS. They were computed in float64
/// with TensorFlow 2.21's ApplyMomentum; trust ratio and schedules in Python.
struct Golden {
  DecayCurve curve;
  std::array<double, 20> sums;
};
constexpr std::array kGoldens{Golden{.curve = DecayCurve::polynomial,
                                     .sums = {27.5,
                                              27.4969173468829,
                                              28.4453262840481,
                                              30.7595806164279,
                                              30.9639893142731,
                                              30.102199473337,
                                              29.6188259823043,
                                              29.4633944745977,
                                              29.9951208534501,
                                              29.7137322560454,
                                              29.2765621541297,
                                              28.7273771806227,
                                              28.2391241014233,
                                              27.9541716111238,
                                              27.7909361957909,
                                              27.5937486164656,
                                              27.3925578601323,
                                              27.2205136061484,
                                              27.0765439014917,
                                              26.9770245654538}},
                              Golden{.curve = DecayCurve::cosine,
                                     .sums = {27.5,
                                              27.4969173468829,
                                              28.4453262840481,
                                              30.7595806164279,
                                              30.9639893142731,
                                              29.9288330135796,
                                              29.3874966147835,
                                              29.3213944003861,
                                              30.3776047211218,
                                              29.955141424866,
                                              29.2203157104171,
                                              28.2483819392375,
                                              27.3889578668103,
                                              26.926153984581,
                                              26.6791951727371,
                                              26.3880674061933,
                                              26.1026227664945,
                                              25.854933941746,
                                              25.6432688072278,
                                              25.4830454593255}}};

TEST(Lars, FollowsTensorFlowOverTwentyStepsWithBothSchedules) {
  const auto backend = make_reference_backend();
  const auto stream = backend->make_stream();
  for (const Golden& golden : kGoldens) {
    // A step has one image and an epoch has four.
    const LearningRate rate({.examples_per_step = 1,
                             .examples_per_epoch = 4,
                             .request = {.init_learning_rate = 0.5,
                                         .curve = golden.curve,
                                         .num_epochs_per_decay = 3,
                                         .minimum_learning_rate = 0.01,
                                         .power = 2,
                                         .num_warmup_epochs = 1}});
    // Five elements that decay and three that do not.
    const auto optimizer = backend->make_optimizer(
        {.rule = LarsRule{.trust_coefficient = 0.25, .momentum = 0.9, .epsilon = 0.0625},
         .weight_decay = 0.125,
         .dtype = DType::f64},
        {{.offset = 0, .count = 5}, {.offset = 5, .count = 3, .decayed = false}});
    std::array<double, 8> variables{0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 1, 1.5};
    std::array<double, 8> gradients{};
    std::array<double, 8> slot{};
    const std::array<void*, 1> slots{slot.data()};
    StepState state;
    optimizer->reset(*stream, slots, &state);
    for (int step = 0; step < 20; ++step) {
      double sum = 0;
      for (int i = 0; i < 8; ++i) {
        gradients.at(static_cast<std::size_t>(i)) = ((7 * i + 3 * step) % 11 - 5) / 8.0;
      }
      state.parameters.learning_rate = rate.at(step);
      optimizer->launch(
          *stream, {.variables = variables.data(), .gradients = gradients.data(), .slots = slots},
          &state);
      for (int i = 0; i < 8; ++i) {
        sum += variables.at(static_cast<std::size_t>(i)) * (i + 1);
      }
      EXPECT_NEAR(sum, golden.sums.at(static_cast<std::size_t>(step)), 1e-12)
          << name_of(golden.curve) << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace bench
