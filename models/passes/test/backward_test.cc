#include "models/passes/backward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/moving_average.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/fuse.h"

namespace bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::vector<std::string> gradient_order(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& [variable, gradient] : graph.gradients()) {
    names.push_back(graph.value(variable).name);
  }
  return names;
}

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) {
    names.emplace_back(node.op->name);
  }
  return names;
}

class BackwardTest : public testing::Test {
 protected:
  ValueId weight(const std::string& name, const Shape& shape, bool trainable = true) {
    return graph_.add_variable(name, {.shape = shape},
                               trainable ? VariableRole::weight : VariableRole::mean);
  }
  ValueId conv(const std::string& name, ValueId x, bool trainable = true) {
    const ValueId w = weight(name, {4, graph_.shape(x)[1], 1, 1}, trainable);
    return graph_.add_node(kConv2d, name, Conv2dAttributes{}, {x, w})[0];
  }
  /// Pools, classifies and names the loss.
  void finish(ValueId x, bool with_l2 = false, std::vector<ValueId> decayed = {}) {
    x = graph_.add_node(kSpatialMean, "mean", {}, {x})[0];
    const ValueId w = weight("fc", {10, graph_.shape(x)[1]});
    x = graph_.add_node(kFullyConnected, "fc", FullyConnectedAttributes{}, {x, w})[0];
    ValueId loss = graph_.add_node(kSoftmaxCrossEntropy, "loss", SoftmaxCrossEntropyAttributes{},
                                   {x, labels_})[0];
    if (with_l2) {
      decayed.push_back(w);
      const ValueId l2 = graph_.add_node(kL2Loss, "l2", L2LossAttributes{}, std::move(decayed))[0];
      loss = graph_.add_node(kAdd, "total", {}, {loss, l2})[0];
    }
    graph_.set_output("loss", loss);
  }

  Graph graph_;
  ValueId x_ = graph_.add_input("x", {.shape = {2, 3, 4, 4}});
  ValueId labels_ = graph_.add_input("labels", {.dtype = DType::s32, .shape = {2}});
};

TEST_F(BackwardTest, GivesTheLastLayersGradientsFirst) {
  finish(conv("conv2", conv("conv1", x_)));
  const Graph graph = add_backward(graph_, "loss");
  EXPECT_THAT(gradient_order(graph), ElementsAre("fc", "conv2", "conv1"));
}

TEST_F(BackwardTest, GivesAGradientOnlyWhenItIsFinal) {
  finish(conv("conv2", conv("conv1", x_)), true);
  // L2 reads fc too, and comes first in the backward order: the gradient waits for the other part.
  const Graph graph = add_backward(graph_, "loss");
  EXPECT_THAT(gradient_order(graph), ElementsAre("fc", "conv2", "conv1"));
  const ValueId gradient = graph.gradients()[0].value;
  const Node& sum = graph.nodes()[static_cast<std::size_t>(graph.value(gradient).producer)];
  EXPECT_EQ(sum.op, &kAdd);
  EXPECT_EQ(sum.name, "fc/gradient_sum");
}

TEST_F(BackwardTest, EveryGradientHasItsVariablesType) {
  finish(conv("conv2", conv("conv1", x_)), true);
  const Graph graph = add_backward(graph_, "loss");
  for (const auto& [variable, gradient] : graph.gradients()) {
    EXPECT_EQ(graph.type(gradient), graph.type(variable)) << graph.value(variable).name;
  }
}

TEST_F(BackwardTest, SumsTheGradientsOfAFork) {
  const ValueId stem = conv("stem", x_);
  finish(graph_.add_node(kAdd, "sum", {}, {conv("left", stem), stem})[0]);
  const Graph graph = add_backward(graph_, "loss");
  const auto sums = std::count_if(graph.nodes().begin(), graph.nodes().end(),
                                  [](const Node& n) { return n.name == "stem/gradient_sum"; });
  EXPECT_EQ(sums, 1);
  EXPECT_THAT(gradient_order(graph), ElementsAre("fc", "left", "stem"));
}

TEST_F(BackwardTest, SumsOnceMoreForEachFurtherReader) {
  const ValueId stem = conv("stem", x_);
  const ValueId sum = graph_.add_node(kAdd, "sum", {}, {conv("left", stem), stem})[0];
  finish(graph_.add_node(kAdd, "sum2", {}, {sum, conv("right", stem)})[0]);
  const Graph graph = add_backward(graph_, "loss");
  std::vector<std::string> sums;
  for (const Node& node : graph.nodes()) {
    if (node.name.starts_with("stem/gradient_sum")) {
      sums.push_back(node.name);
    }
  }
  EXPECT_THAT(sums, ElementsAre("stem/gradient_sum", "stem/gradient_sum_2"));
}

TEST_F(BackwardTest, GivesNoGradientToFrozenVariables) {
  finish(conv("trained", conv("frozen", x_, false)));
  const Graph graph = add_backward(graph_, "loss");
  EXPECT_THAT(gradient_order(graph), ElementsAre("fc", "trained"));
  // Nothing below the last trained variable is differentiated.
  EXPECT_THAT(ops_of(graph), Not(Contains("conv2d_backward_data")));
}

TEST_F(BackwardTest, GivesNoGradientToAVariableTheLossDoesNotReach) {
  graph_.set_output("unused", conv("unused", x_));
  finish(conv("conv", x_));
  EXPECT_THAT(gradient_order(add_backward(graph_, "loss")), ElementsAre("fc", "conv"));
}

TEST_F(BackwardTest, LeavesMovingAveragesAlone) {
  const ValueId beta = weight("beta", {4});
  const ValueId running = weight("running", {4}, false);
  const auto outputs = graph_.add_node(kBatchNorm, "bn", BatchNormAttributes{.scale = false},
                                       {conv("conv", x_), beta});
  graph_.add_update(running, graph_.add_node(kMovingAverage, "average", MovingAverageAttributes{},
                                             {running, outputs[1]})[0]);
  finish(outputs[0]);
  const Graph graph = add_backward(graph_, "loss");
  EXPECT_THAT(gradient_order(graph), ElementsAre("fc", "beta", "conv"));
  EXPECT_EQ(graph.updates().size(), 1U);
}

TEST_F(BackwardTest, StartsAtTheLossScale) {
  finish(conv("conv", x_));
  const Graph graph = add_backward(graph_, "loss");
  EXPECT_EQ(graph.value(graph.inputs().back()).name, "loss_scale");
  EXPECT_EQ(graph.type(graph.inputs().back()), graph.type(graph.output("loss")));
}

TEST_F(BackwardTest, AppendsFusedBackwardNodesForFusedNodes) {
  const ValueId beta = weight("beta", {4});
  const ValueId stem = conv("stem", x_);
  const ValueId norm = graph_.add_node(kBatchNorm, "bn", BatchNormAttributes{.scale = false},
                                       {conv("conv", stem), beta})[0];
  const ValueId sum = graph_.add_node(kAdd, "sum", {}, {norm, stem})[0];
  finish(graph_.add_node(kActivation, "relu", ActivationAttributes{}, {sum})[0]);
  const Graph fused = fuse(graph_, [](const Graph&, const Node&) { return Support{}; });
  const Graph graph = add_backward(fused, "loss");
  EXPECT_THAT(ops_of(graph), Not(Contains("activation_backward")));
  EXPECT_THAT(gradient_order(graph), ElementsAre("fc", "beta", "conv", "stem"));
}

TEST_F(BackwardTest, MakesTheBiasGradientWithTheWeights) {
  const ValueId w = weight("w", {4, 3, 1, 1});
  const ValueId b = weight("b", {4});
  finish(graph_.add_node(kConv2d, "conv", Conv2dAttributes{.epilogue = {.bias = true}},
                         {x_, w, b})[0]);
  const Graph graph = add_backward(graph_, "loss");
  EXPECT_THAT(gradient_order(graph), ElementsAre("fc", "w", "b"));
  EXPECT_THAT(ops_of(graph), Not(Contains("bias_backward")));
}

TEST_F(BackwardTest, RefusesALossWithoutTrainedVariables) {
  const ValueId logits = graph_.add_input("logits", {.shape = {2, 10}});
  graph_.set_output("loss", graph_.add_node(kSoftmaxCrossEntropy, "loss",
                                            SoftmaxCrossEntropyAttributes{}, {logits, labels_})[0]);
  EXPECT_THROW(add_backward(graph_, "loss"), InternalError);
}

TEST_F(BackwardTest, RefusesAnOpWithoutGradient) {
  const ValueId logits = weight("logits", {2, 10});
  graph_.set_output(
      "loss", graph_.add_node(kTopKAccuracy, "accuracy", TopKAttributes{}, {logits, labels_})[0]);
  EXPECT_THROW(add_backward(graph_, "loss"), InternalError);
}

}  // namespace
}  // namespace bench
