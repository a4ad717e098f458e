#include "models/passes/fuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"
#include "models/ops/moving_average.h"
#include "models/passes/decompose.h"

namespace bench {
namespace {

using testing::ElementsAre;

Support everything(const Graph&, const Node&) { return {}; }
Support nothing(const Graph&, const Node&) { return {.yes = false, .why_not = "none"}; }

/// Builds small graphs over images of 1x4x3x3.
class FuseTest : public testing::Test {
 protected:
  ValueId image(const std::string& name) { return graph_.add_input(name, {.shape = kImage}); }
  ValueId vector(const std::string& name) { return graph_.add_input(name, {.shape = {4}}); }
  ValueId conv(const std::string& name, ValueId x) {
    const ValueId w = graph_.add_input(name + ".w", {.shape = {4, 4, 1, 1}});
    return graph_.add_node(kConv2d, name, Conv2dAttributes{}, {x, w})[0];
  }
  std::vector<ValueId> norm_all(const std::string& name, ValueId x) {
    return graph_.add_node(kBatchNorm, name, BatchNormAttributes{.scale = false},
                           {x, vector(name + ".beta")});
  }
  ValueId norm(const std::string& name, ValueId x) { return norm_all(name, x)[0]; }
  ValueId bias(const std::string& name, ValueId x) {
    return graph_.add_node(kBiasAdd, name, {}, {x, vector(name + ".b")})[0];
  }
  ValueId add(const std::string& name, ValueId a, ValueId b) {
    return graph_.add_node(kAdd, name, {}, {a, b})[0];
  }
  ValueId relu(const std::string& name, ValueId x) {
    return graph_.add_node(kActivation, name, ActivationAttributes{}, {x})[0];
  }

  /// "op name{attributes}" of each node after fusion.
  std::vector<std::string> fused(const SupportQuery& supports = everything) {
    result_ = fuse(graph_, supports);
    std::vector<std::string> nodes;
    for (const Node& node : result_.nodes()) {
      nodes.push_back(node.name + testing::PrintToString(node.attributes));
    }
    return nodes;
  }
  /// The names of the inputs of a node of the fused graph.
  std::vector<std::string> inputs_of(std::size_t node) const {
    std::vector<std::string> names;
    for (const ValueId id : result_.nodes()[node].inputs) {
      names.push_back(result_.value(id).name);
    }
    return names;
  }

  const Shape kImage{1, 4, 3, 3};
  Graph graph_;
  Graph result_;
};

TEST_F(FuseTest, ConvolutionTakesBiasAndRelu) {
  graph_.set_output("y", relu("relu", bias("bias", conv("conv", image("x")))));
  EXPECT_THAT(fused(), ElementsAre("conv1x1/1+bias+relu"));
  EXPECT_THAT(inputs_of(0), ElementsAre("x", "conv.w", "bias.b"));
  EXPECT_EQ(result_.output("y"), result_.nodes()[0].outputs[0]);
}

TEST_F(FuseTest, FullyConnectedTakesBiasAndReluButNoResidual) {
  const ValueId x = graph_.add_input("x", {.shape = {2, 4}});
  const ValueId w = graph_.add_input("w", {.shape = {4, 4}});
  const ValueId y = graph_.add_node(kFullyConnected, "fc", FullyConnectedAttributes{}, {x, w})[0];
  graph_.set_output("y", relu("relu", bias("bias", y)));
  const ValueId z = graph_.add_node(kFullyConnected, "fc2", FullyConnectedAttributes{}, {x, w})[0];
  graph_.set_output("z", add("sum", z, x));
  EXPECT_THAT(fused(), ElementsAre("fc+bias+relu", "fc2", "sum"));
}

TEST_F(FuseTest, BatchNormTakesRelu) {
  graph_.set_output("y", relu("relu", norm("bn", conv("conv", image("x")))));
  EXPECT_THAT(fused(), ElementsAre("conv1x1/1", "bnepsilon 0.001+relu"));
}

TEST_F(FuseTest, BatchNormTakesNoBias) {
  graph_.set_output("y", bias("bias", norm("bn", image("x"))));
  EXPECT_THAT(fused(), ElementsAre("bnepsilon 0.001", "bias"));
}

TEST_F(FuseTest, BatchNormTakesAResidualAndRelu) {
  const ValueId x = image("x");
  graph_.set_output("y", relu("relu", add("sum", norm("bn", x), x)));
  EXPECT_THAT(fused(), ElementsAre("bnepsilon 0.001+residual+relu"));
  EXPECT_THAT(inputs_of(0), ElementsAre("x", "bn.beta", "x"));
}

TEST_F(FuseTest, ExtendsTheLaterOfTwoBatchNorms) {
  for (const bool later_first : {false, true}) {
    graph_ = {};
    const ValueId x = image("x");
    const ValueId shortcut = norm("downsample", x);
    const ValueId main = norm("main", conv("conv", x));
    const ValueId sum = later_first ? add("sum", main, shortcut) : add("sum", shortcut, main);
    graph_.set_output("y", relu("relu", sum));
    EXPECT_THAT(fused(), ElementsAre("downsampleepsilon 0.001", "conv1x1/1",
                                     "mainepsilon 0.001+residual+relu"));
    EXPECT_EQ(inputs_of(2)[2], "downsample:0");
  }
}

TEST_F(FuseTest, KeepsReadersOfStatisticsAfterAFusedBatchNorm) {
  const ValueId x = image("x");
  const ValueId running = graph_.add_variable("running_mean", {.shape = {4}}, VariableRole::mean);
  const auto outputs = norm_all("bn", x);
  const ValueId average = graph_.add_node(kMovingAverage, "average", MovingAverageAttributes{},
                                          {running, outputs[1]})[0];
  graph_.add_update(running, average);
  const ValueId late = conv("late", x);
  graph_.set_output("y", relu("relu", add("sum", outputs[0], late)));
  // The later input of the sum is a convolution's: that one takes the residual.
  EXPECT_THAT(fused(), ElementsAre("bnepsilon 0.001", "averagedecay 0.999 factor 1",
                                   "late1x1/1+residual+relu"));
  // A device without that form leaves the sum to the batch norm, which then moves after `late`.
  const auto no_conv_residual = [](const Graph&, const Node& node) {
    return Support{.yes = node.op != &kConv2d, .why_not = "no residual"};
  };
  EXPECT_THAT(fused(no_conv_residual), ElementsAre("late1x1/1", "bnepsilon 0.001+residual+relu",
                                                   "averagedecay 0.999 factor 1"));
  EXPECT_EQ(result_.updates().size(), 1U);
}

TEST_F(FuseTest, LeavesAResultWithTwoReaders) {
  const ValueId y = conv("conv", image("x"));
  graph_.set_output("y", relu("relu", y));
  graph_.set_output("before", y);
  EXPECT_THAT(fused(), ElementsAre("conv1x1/1", "relurelu"));
}

TEST_F(FuseTest, LeavesASumOfAValueWithItself) {
  const ValueId y = conv("conv", image("x"));
  graph_.set_output("y", add("twice", y, y));
  EXPECT_THAT(fused(), ElementsAre("conv1x1/1", "twice"));
}

TEST_F(FuseTest, FusesNothingAfterAnActivation) {
  const ValueId x = image("x");
  graph_.set_output("y", relu("second", add("sum", relu("first", conv("conv", x)), x)));
  EXPECT_THAT(fused(), ElementsAre("conv1x1/1+relu", "sum", "secondrelu"));
}

TEST_F(FuseTest, LeavesWhatTheDeviceDoesNotSupport) {
  graph_.set_output("y", relu("relu", bias("bias", conv("conv", image("x")))));
  EXPECT_THAT(fused(nothing), ElementsAre("conv1x1/1", "bias", "relurelu"));
  const auto no_activation = [](const Graph&, const Node& node) {
    return Support{
        .yes = node.attributes.as<Conv2dAttributes>().epilogue.activation == ActivationKind::none,
        .why_not = "no activation"};
  };
  EXPECT_THAT(fused(no_activation), ElementsAre("conv1x1/1+bias", "relurelu"));
}

TEST_F(FuseTest, DecomposeGivesThePartsBack) {
  const ValueId x = image("x");
  graph_.set_output("a", relu("relu", add("sum", bias("bias", conv("conv", x)), x)));
  graph_.set_output("b", relu("relu2", add("sum2", norm("bn", x), x)));
  const Graph parts = decompose_unsupported(fuse(graph_, everything), nothing);
  std::vector<std::string> nodes;
  for (const Node& node : parts.nodes()) {
    nodes.push_back(std::string(node.op->name) + testing::PrintToString(node.attributes));
  }
  EXPECT_THAT(nodes, ElementsAre("conv2d1x1/1", "bias_add", "add", "activationrelu",
                                 "batch_normepsilon 0.001", "add", "activationrelu"));
}

TEST_F(FuseTest, DecomposeLeavesFusedNodesThatTheDeviceRuns) {
  graph_.set_output("y", relu("relu", conv("conv", image("x"))));
  const Graph whole = decompose_unsupported(fuse(graph_, everything), everything);
  EXPECT_EQ(whole.nodes().size(), 1U);
}

}  // namespace
}  // namespace bench
