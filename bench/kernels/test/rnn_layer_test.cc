#include "bench/kernels/rnn_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/kernels/rnn_timer.h"
#include "kernels/cases/kernel_case.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/case_runner.h"
#include "models/passes/backward.h"

namespace bench {
namespace {

using Values = std::vector<double>;

class RnnLayer : public testing::TestWithParam<RnnCell> {};

INSTANTIATE_TEST_SUITE_P(Cells, RnnLayer,
                         testing::Values(RnnCell::relu, RnnCell::tanh, RnnCell::lstm),
                         [](const auto& cell) { return std::string(name_of(cell.param)); });

void append(Values& to, const Values& values) { to.insert(to.end(), values.begin(), values.end()); }

TEST_P(RnnLayer, StepByStepHasTheStatesAndGradientsOfTheOp) {
  const RnnLayerSize size{.cell = GetParam(), .units = 5, .batch = 3, .steps = 4};
  const auto backend = make_reference_backend();
  const auto run = [&](RnnForm form) {
    const Graph graph = add_backward(rnn_layer_graph(size, form, /*loss=*/true), "loss");
    auto runner =
        std::make_unique<GraphRunner>(variables_as_inputs(graph), *backend, DataFormat::automatic);
    RandomStream random(test_seed());
    // Both forms draw the same numbers in the same order: weights, bias, then all of x.
    for (const char* const name : {"w_x", "w_h", "b_x"}) {
      const std::int64_t rows = gates_of(size.cell) * size.units;
      runner->set(name, draw({.scale = 0.25}, *name == 'b' ? rows : rows * size.units, random));
    }
    const Values x = draw({}, size.steps * size.batch * size.units, random);
    const std::size_t each = x.size() / static_cast<std::size_t>(size.steps);
    if (form == RnnForm::fused) {
      runner->set("x", x);
    }
    for (std::size_t t = 0; form == RnnForm::stepwise && t < x.size() / each; ++t) {
      runner->set(fmt::format("x{}", t), std::span(x).subspan(t * each, each));
    }
    runner->set("loss_scale", Values{1});
    runner->run();
    return runner;
  };
  const auto fused = run(RnnForm::fused);
  const auto stepwise = run(RnnForm::stepwise);
  Values y;
  Values dx;
  for (std::int64_t t = 0; t < size.steps; ++t) {
    append(y, stepwise->output(fmt::format("y{}", t)));
    append(dx, stepwise->output(fmt::format("gradient/x{}", t)));
  }
  const auto expect_near = [](const Values& actual, const Values& expected, const char* what) {
    ASSERT_EQ(actual.size(), expected.size()) << what;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_NEAR(actual[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << what << " " << i;
    }
  };
  expect_near(y, fused->output("y"), "y");
  expect_near(dx, fused->output("gradient/x"), "dx");
  for (const std::string name : {"w_x", "w_h", "b_x"}) {
    expect_near(stepwise->output("gradient/" + name), fused->output("gradient/" + name),
                name.c_str());
  }
}

TEST(RnnTimer, TimesThePhasesOfTheSameWork) {
  const RnnLayerSize size{.cell = RnnCell::lstm, .units = 4, .batch = 2, .steps = 3};
  const auto backend = make_reference_backend();
  for (const RnnForm form : {RnnForm::fused, RnnForm::stepwise}) {
    RnnTimer inference(size, form, /*training=*/false, DType::f32, *backend);
    EXPECT_GT(inference.run(RnnPhase::inference).count(), 0);
    // 3 steps, 2 sequences, 4 gates, 4 units, and 4 inputs and 4 states for each.
    EXPECT_EQ(inference.multiply_adds(RnnPhase::inference), 3 * 2 * 4 * 4 * 8);
    RnnTimer training(size, form, /*training=*/true, DType::f32, *backend);
    EXPECT_GT(training.run(RnnPhase::forward).count(), 0);
    EXPECT_GT(training.run(RnnPhase::backward).count(), 0);
    EXPECT_EQ(training.multiply_adds(RnnPhase::backward), 2 * 3 * 2 * 4 * 4 * 8);
    EXPECT_GT(training.memory_bytes(), inference.memory_bytes());
    EXPECT_EQ(training.implementation(RnnPhase::backward), "reference");
  }
}

TEST(RnnTimer, SeparatesForwardAndBackwardAtTheLoss) {
  const RnnLayerSize size{.cell = RnnCell::lstm, .units = 4, .batch = 2, .steps = 3};
  const auto backend = make_reference_backend();
  const RnnTimer timer(size, RnnForm::fused, /*training=*/true, DType::f32, *backend);
  const auto ops = [&](RnnPhase phase) {
    std::vector<std::string> names;
    for (const Step& step : timer.steps(phase)) {
      names.push_back(step.op);
    }
    return names;
  };
  EXPECT_THAT(ops(RnnPhase::forward), testing::ElementsAre("rnn"));
  EXPECT_THAT(ops(RnnPhase::backward), testing::AllOf(testing::Contains("rnn_backward"),
                                                      testing::Not(testing::Contains("rnn")),
                                                      testing::Not(testing::Contains("l2_loss"))));
}

}  // namespace
}  // namespace bench
