#include "models/ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"
#include "models/ops/pool.h"

namespace bench {
namespace {

using testing::ElementsAre;

TEST(Graph, PrintsOneLinePerInputVariableAndNode) {
  Graph graph;
  const ValueId x = graph.add_input("images", {.shape = {2, 3, 8, 8}});
  const ValueId w =
      graph.add_variable("conv.weight", {.shape = {4, 3, 3, 3}}, VariableRole::weight);
  const ValueId mean = graph.add_variable("running_mean", {.shape = {4}}, VariableRole::mean);
  const ValueId y = graph.add_node(
      kConv2d, "conv",
      Conv2dAttributes{
          .window = {.kernel = {3, 3}, .stride = {2, 2}, .pad_before = {1, 1}, .pad_after = {1, 1}},
          .epilogue = {.activation = ActivationKind::relu}},
      {x, w})[0];
  const auto pooled = graph.add_node(
      kMaxPool, "pool",
      PoolAttributes{.window = {.kernel = {2, 2}, .stride = {2, 2}}, .input = {2, 4, 4, 4}}, {y});
  graph.set_output("y", pooled[0]);
  graph.add_update(mean, mean);
  graph.add_gradient(w, w);
  EXPECT_EQ(testing::PrintToString(graph),
            "input %0 images f32[2x3x8x8]\n"
            "variable %1 conv.weight f32[4x3x3x3] decayed\n"
            "variable %2 running_mean f32[4] not trained\n"
            "%3 f32[2x4x4x4] = conv2d(%0, %1) {3x3/2 pad 1,1+1,1+relu} conv\n"
            "%4 f32[2x4x2x2], %5 opaque = max_pool(%3) {2x2/2 of 2x4x4x4} pool\n"
            "output y = %4\n"
            "update running_mean = %2\n"
            "gradient conv.weight = %1\n");
}

TEST(Graph, RefusesTwoVariablesOfOneName) {
  Graph graph;
  graph.add_variable("w", {.shape = {1}}, VariableRole::weight);
  EXPECT_THROW(graph.add_variable("w", {.shape = {2}}, VariableRole::weight), InternalError);
}

TEST(Graph, RefusesMissingValuesAndOutputs) {
  Graph graph;
  EXPECT_THROW((void)graph.value({}), InternalError);
  EXPECT_THROW((void)graph.value({3}), InternalError);
  EXPECT_THROW((void)graph.output("loss"), InternalError);
}

TEST(Graph, FindsVariablesOnlyAmongVariables) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.shape = {1}});
  const ValueId w = graph.add_variable("w", {.shape = {1}}, VariableRole::mean);
  EXPECT_EQ(graph.find_variable(x), nullptr);
  ASSERT_NE(graph.find_variable(w), nullptr);
  EXPECT_FALSE(graph.find_variable(w)->trainable());
}

TEST(Graph, NamesTheOutputsOfANodeByPosition) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.shape = {1, 2, 3, 3}});
  const ValueId beta = graph.add_variable("beta", {.shape = {2}}, VariableRole::weight);
  const auto outputs =
      graph.add_node(kBatchNorm, "norm", BatchNormAttributes{.scale = false}, {x, beta});
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(graph.value(outputs[1]).name, "norm:1");
  EXPECT_EQ(graph.value(outputs[2]).producer, 0);
  EXPECT_EQ(graph.value(outputs[2]).position, 2);
}

TEST(Graph, CountsEveryReader) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.shape = {2}});
  const ValueId w = graph.add_variable("w", {.shape = {2}}, VariableRole::weight);
  const ValueId twice = graph.add_node(kAdd, "twice", {}, {x, x})[0];
  const ValueId y = graph.add_node(kAdd, "y", {}, {twice, w})[0];
  graph.set_output("y", y);
  graph.add_update(w, y);
  EXPECT_THAT(count_uses(graph), ElementsAre(2, 1, 1, 2));
}

TEST(Work, CountsMultiplyAddsOfConvolutionsAndFullyConnectedLayersOnly) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.shape = {2, 8, 6, 6}});
  const ValueId w = graph.add_input("w", {.shape = {16, 2, 3, 3}});
  const ValueId y = graph.add_node(
      kConv2d, "conv", Conv2dAttributes{.window = {.kernel = {3, 3}}, .groups = 4}, {x, w})[0];
  graph.add_node(kActivation, "relu", ActivationAttributes{}, {y});
  const ValueId rows = graph.add_input("rows", {.shape = {2, 10}});
  const ValueId fc = graph.add_input("fc", {.shape = {7, 10}});
  graph.add_node(kFullyConnected, "fc", FullyConnectedAttributes{}, {rows, fc});
  // 2 images of 16x4x4 outputs, 2x3x3 inputs each; 2 rows of 7 outputs, 10 inputs each.
  EXPECT_EQ(multiply_adds(graph), 2 * 16 * 16 * 18 + 2 * 7 * 10);
  EXPECT_EQ(work_of(graph, graph.nodes()[1]).bytes, 2 * (2 * 16 * 16) * 4);
}

TEST(Work, CountsMultiplyAddsOfPaddingInAllThreeDirections) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.shape = {2, 8, 6, 5}});
  const ValueId w = graph.add_input("w", {.shape = {16, 4, 3, 1}});
  const ValueId dy = graph.add_input("dy", {.shape = {2, 16, 3, 5}});
  const Window window{.kernel = {3, 1}, .stride = {2, 1}, .pad_before = {1, 0}};
  graph.add_node(kConv2d, "forward", Conv2dAttributes{.window = window, .groups = 2}, {x, w});
  graph.add_node(
      kConv2dBackwardData, "data",
      Conv2dBackwardDataAttributes{.window = window, .groups = 2, .input = graph.shape(x)},
      {dy, w});
  graph.add_node(
      kConv2dBackwardWeights, "weights",
      Conv2dBackwardWeightsAttributes{.window = window, .groups = 2, .weights = graph.shape(w)},
      {dy, x});
  for (const Node& node : graph.nodes()) {
    SCOPED_TRACE(node.name);
    // In each of 2 images and 5 columns, only the first of 3 rows has a filter element outside.
    EXPECT_EQ(work_of(graph, node).multiply_adds, 2 * 16 * 4 * 5 * 3 * 3);
    EXPECT_EQ(work_of(graph, node).avoidable_multiply_adds, 2 * 16 * 4 * 5);
  }
}

}  // namespace
}  // namespace bench
