#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/reference/reference_backend.h"
#include "kernels/test/case_runner.h"
#include "models/base/errors.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/conv2d.h"
#include "models/ops/dropout.h"
#include "models/ops/loss.h"
#include "models/ops/lrn.h"
#include "models/ops/moving_average.h"
#include "models/ops/pool.h"

// The forward formulas by hand; gradient_test.cc derives the gradients from them.
namespace bench {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Pointwise;

using Values = std::vector<double>;

struct Operand {
  Shape shape;
  Values values;
  DType dtype = DType::f64;
};

/// The outputs of one node in f64; an opaque one is empty.
std::vector<Values> evaluate(const OpDef& op, const Attributes& attributes,
                             const std::vector<Operand>& operands) {
  Graph graph;
  std::vector<ValueId> ids;
  for (const Operand& operand : operands) {
    ids.push_back(graph.add_input(fmt::format("in{}", ids.size()),
                                  {.dtype = operand.dtype, .shape = operand.shape}));
  }
  const auto outputs = graph.add_node(op, "node", attributes, ids);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!graph.type(outputs[i]).opaque) {
      graph.set_output(fmt::format("out{}", i), outputs[i]);
    }
  }
  const auto backend = make_reference_backend();
  GraphRunner runner(graph, *backend, DataFormat::automatic);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    runner.set(fmt::format("in{}", i), operands[i].values);
  }
  runner.run();
  std::vector<Values> results(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!graph.type(outputs[i]).opaque) {
      results[i] = runner.output(fmt::format("out{}", i));
    }
  }
  return results;
}

const Values kNine{1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(ReferenceConv2d, CrossCorrelatesWithoutFlippingTheFilter) {
  const auto y = evaluate(kConv2d, Conv2dAttributes{.window = {.kernel = {2, 2}}},
                          {{{1, 1, 3, 3}, kNine}, {{1, 1, 2, 2}, {1, 10, 100, 1000}}});
  EXPECT_THAT(y[0], ElementsAre(5421, 6532, 8754, 9865));
}

TEST(ReferenceConv2d, PadsWithZerosOnTheSidesAsked) {
  const Window window{.kernel = {2, 2}, .stride = {2, 2}, .pad_after = {1, 1}};
  const auto y = evaluate(kConv2d, Conv2dAttributes{.window = window},
                          {{{1, 1, 3, 3}, kNine}, {{1, 1, 2, 2}, {1, 10, 100, 1000}}});
  EXPECT_THAT(y[0], ElementsAre(5421, 603, 87, 9));
}

TEST(ReferenceConv2d, DilatesTheFilter) {
  const auto y =
      evaluate(kConv2d, Conv2dAttributes{.window = {.kernel = {2, 2}, .dilation = {2, 2}}},
               {{{1, 1, 3, 3}, kNine}, {{1, 1, 2, 2}, {1, 10, 100, 1000}}});
  EXPECT_THAT(y[0], ElementsAre(9731));
}

TEST(ReferenceConv2d, KeepsGroupsApart) {
  // Two groups of two channels and one filter each, two images of one pixel.
  const auto y =
      evaluate(kConv2d, Conv2dAttributes{.groups = 2},
               {{{2, 4, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}}, {{2, 2, 1, 1}, {1, 10, 100, 1000}}});
  EXPECT_THAT(y[0], ElementsAre(21, 4300, 65, 8700));
}

TEST(ReferenceMaxPool, LetsPaddingNeverWin) {
  const Shape x{1, 1, 2, 2};
  const auto y = evaluate(
      kMaxPool, PoolAttributes{.window = {.kernel = {2, 2}, .pad_before = {1, 1}}, .input = x},
      {{x, {-4, -3, -2, -1}}});
  EXPECT_THAT(y[0], ElementsAre(-4, -3, -2, -1));
}

TEST(ReferenceAvgPool, DividesByTheElementsInsideTheInput) {
  const Shape x{1, 1, 3, 3};
  const Window window{.kernel = {2, 2}, .stride = {2, 2}, .pad_after = {1, 1}};
  const auto y = evaluate(kAvgPool, PoolAttributes{.window = window, .input = x}, {{x, kNine}});
  EXPECT_THAT(y[0], ElementsAre(3, 4.5, 7.5, 9));
}

TEST(ReferenceBatchNorm, GivesTheBatchsMeanAndBiasedVariance) {
  // Two images of two channels of two pixels; epsilon makes the first deviation 2 exactly.
  const auto y = evaluate(kBatchNorm, BatchNormAttributes{.epsilon = 2.75},
                          {{{2, 2, 1, 2}, {1, 2, 5, 5, 3, 4, 5, 5}}, {{2}, {2, 1}}, {{2}, {1, 7}}});
  EXPECT_THAT(y[1], ElementsAre(2.5, 5));
  EXPECT_THAT(y[2], ElementsAre(1.25, 0));
  EXPECT_THAT(y[0], ElementsAre(-0.5, 0.5, 7, 7, 1.5, 2.5, 7, 7));
}

TEST(ReferenceBatchNorm, InferenceUsesTheGivenStatistics) {
  const auto y = evaluate(kBatchNormInference, BatchNormAttributes{.epsilon = 1, .scale = false},
                          {{{1, 2, 1, 1}, {5, 6}}, {{2}, {0, 1}}, {{2}, {1, 4}}, {{2}, {3, 0}}});
  EXPECT_THAT(y[0], ElementsAre(2, 3));
}

TEST(ReferenceLoss, IsTheLogarithmOfTheClassesForEqualLogits) {
  const auto y = evaluate(kSoftmaxCrossEntropy, SoftmaxCrossEntropyAttributes{},
                          {{{2, 4}, Values(8, 1000.0)}, {{2}, {0, 3}, DType::s32}});
  EXPECT_DOUBLE_EQ(y[0][0], std::log(4.0));
  EXPECT_THAT(y[1], Pointwise(DoubleEq(), Values(8, 0.25)));
}

TEST(ReferenceLoss, RefusesALabelOutsideTheClasses) {
  const std::vector<Operand> operands{{{1, 4}, Values(4, 1.0)}, {{1}, {4}, DType::s32}};
  EXPECT_THROW(evaluate(kSoftmaxCrossEntropy, SoftmaxCrossEntropyAttributes{}, operands),
               InternalError);
}

TEST(ReferenceLoss, MixesInTheMeanOverTheClassesAndItsWeight) {
  // log softmax is -log 4 for the equal logits of row 0, and of row 1 log(1/2) for the first two.
  const double half = std::log(0.5);
  const Values logits{3, 3, 3, 3, half, half, -800, -800};
  const auto y = evaluate(kSoftmaxCrossEntropy,
                          SoftmaxCrossEntropyAttributes{.label_smoothing = 0.2, .weight = 10},
                          {{{2, 4}, logits}, {{2}, {1, 0}, DType::s32}});
  const double second = -(0.8 * half + 0.2 * (half + half - 800 - 800) / 4);
  EXPECT_NEAR(y[0][0], 10 * (std::log(4.0) + second) / 2, 1e-12);
}

TEST(ReferenceL2Loss, IsHalfTheSquaresTimesTheCoefficient) {
  const auto y =
      evaluate(kL2Loss, L2LossAttributes{.coefficient = 0.5}, {{{2}, {1, 2}}, {{1, 2}, {3, 0}}});
  EXPECT_THAT(y[0], ElementsAre(3.5));
}

TEST(ReferenceTopK, CountsOnlyStrictlyLargerLogits) {
  // The label's logit is beaten by none (a tie), one, and two others.
  const std::vector<Operand> operands{{{4, 3}, {2, 2, 1, /**/ 1, 2, 0, /**/ 0, 1, 2, /**/ 5, 6, 7}},
                                      {{4}, {1, 0, 0, 2}, DType::s32}};
  EXPECT_THAT(evaluate(kTopKAccuracy, TopKAttributes{.k = 1}, operands)[0], ElementsAre(0.5));
  EXPECT_THAT(evaluate(kTopKAccuracy, TopKAttributes{.k = 2}, operands)[0], ElementsAre(0.75));
}

TEST(ReferenceMovingAverage, WeighsTheBatchByFactorAndDecay) {
  const auto y = evaluate(kMovingAverage, MovingAverageAttributes{{{.decay = 0.75, .factor = 2}}},
                          {{{1}, {8}}, {{1}, {1}}});
  EXPECT_THAT(y[0], ElementsAre(6.5));
}

Values activated(ActivationKind kind, const Values& x) {
  const auto count = static_cast<std::int64_t>(x.size());
  return evaluate(kActivation, ActivationAttributes{.kind = kind}, {{{count}, x}})[0];
}

TEST(ReferenceActivation, CutsAtItsKinks) {
  const Values x{-4, -3, -1, 0, 1, 3, 6, 7};
  EXPECT_THAT(activated(ActivationKind::relu6, x), ElementsAre(0, 0, 0, 0, 1, 3, 6, 6));
  EXPECT_THAT(activated(ActivationKind::hard_sigmoid, x),
              ElementsAre(0, 0, 2.0 / 6, 0.5, 4.0 / 6, 1, 1, 1));
  EXPECT_THAT(activated(ActivationKind::hard_swish, x),
              ElementsAre(0, 0, -2.0 / 6, 0, 4.0 / 6, 3, 6, 7));
}

TEST(ReferenceActivation, KnowsTheLogisticFunction) {
  const double x = std::log(3.0);
  EXPECT_THAT(activated(ActivationKind::sigmoid, {-x, 0, x}),
              Pointwise(DoubleEq(), Values{0.25, 0.5, 0.75}));
  EXPECT_THAT(activated(ActivationKind::silu, {-x, 0, x}),
              Pointwise(DoubleEq(), Values{-0.25 * x, 0, 0.75 * x}));
}

TEST(ReferenceLrn, SumsSquaresOfNearChannelsAsTheyAre) {
  // The windows hold 1 + 4, 1 + 4 + 9 and 4 + 9.
  const LrnAttributes attributes{.radius = 1, .bias = 1, .alpha = 3, .beta = 0.5};
  const auto y = evaluate(kLrn, attributes, {{{1, 3, 1, 1}, {1, 2, 3}}});
  EXPECT_THAT(y[0],
              Pointwise(DoubleEq(), Values{1.0 / 4, 2 / std::sqrt(43.0), 3 / std::sqrt(40.0)}));
}

Values dropped(const DropoutAttributes& attributes, double step, std::size_t count) {
  return evaluate(
      kDropout, attributes,
      {{{1, static_cast<std::int64_t>(count)}, Values(count, 1.0)}, {{}, {step}, DType::s32}})[0];
}

TEST(ReferenceDropout, KeepsTheShareAskedAndScalesIt) {
  constexpr std::size_t kCount = 20000;
  const Values y = dropped({.keep = 0.75, .seed = 3, .stream = 4}, 5, kCount);
  const auto zeros = static_cast<double>(std::count(y.begin(), y.end(), 0.0));
  EXPECT_NEAR(zeros / kCount, 0.25, 0.01);
  EXPECT_EQ(*std::max_element(y.begin(), y.end()), 1 / 0.75);
}

TEST(ReferenceDropout, KeepsEverythingInANegativeStep) {
  EXPECT_EQ(dropped({.keep = 0.5, .seed = 3, .stream = 4}, -1, 64), Values(64, 1.0));
}

TEST(ReferenceDropout, DrawsWordsOfPhiloxByElementAndStep) {
  const Values y = dropped({.keep = 0.5, .seed = 0x100000002, .stream = 0x300000004}, 9, 8);
  for (std::uint32_t block = 0; block < 2; ++block) {
    const auto words = philox4x32({block, 0, 4, 9}, {2, 3});
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(y[4 * block + i], words[i] < 0x80000000U ? 2.0 : 0.0);
    }
  }
}

TEST(ReferenceDropout, DiffersByStepStreamAndSeed) {
  constexpr std::size_t kCount = 64;
  const DropoutAttributes attributes{.keep = 0.5, .seed = 1, .stream = 2};
  const Values y = dropped(attributes, 0, kCount);
  EXPECT_EQ(dropped(attributes, 0, kCount), y);
  EXPECT_NE(dropped(attributes, 1, kCount), y);
  EXPECT_NE(dropped({.keep = 0.5, .seed = 2, .stream = 2}, 0, kCount), y);
  EXPECT_NE(dropped({.keep = 0.5, .seed = 1, .stream = 3}, 0, kCount), y);
}

TEST(ReferenceStorage, RoundsOnceOnTheWayOut) {
  // The sum has 26 bits: exact in double, rounded to even in f32.
  const auto y =
      evaluate(kAdd, {}, {{{2}, {16777216, 16777216}, DType::f32}, {{2}, {1, 3}, DType::f32}});
  EXPECT_THAT(y[0], ElementsAre(16777216, 16777220));
}

}  // namespace
}  // namespace bench
