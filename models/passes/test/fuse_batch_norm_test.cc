#include "models/passes/fuse_batch_norm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/ir/op.h"
#include "models/ops/add.h"
#include "models/ops/conv2d.h"
#include "models/ops/loss.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"
#include "models/passes/decompose.h"
#include "models/passes/fuse.h"

namespace bench {
namespace {

Support everything_runs(const Graph&, const Node&) { return {}; }

bool carries_batch_norm(const Node& node) {
  return node.op == &kConv2d && node.attributes.as<Conv2dAttributes>().batch_norm.has_value();
}

Support nothing_with_batch_norm(const Graph&, const Node& node) {
  return {.yes = !carries_batch_norm(node), .why_not = "a batch norm stands alone"};
}

std::ptrdiff_t nodes_of(const Graph& graph, const OpDef& op) {
  return std::count_if(graph.nodes().begin(), graph.nodes().end(),
                       [&](const Node& node) { return node.op == &op; });
}

std::ptrdiff_t with_batch_norm(const Graph& graph) {
  return std::count_if(graph.nodes().begin(), graph.nodes().end(), carries_batch_norm);
}

/// A convolution "conv" of x, and the nodes that tests append to it.
class FuseBatchNorm : public testing::Test {
 protected:
  ValueId conv(const std::string& name, ValueId x) {
    const ValueId w =
        graph_.add_variable(name, {.shape = {4, graph_.shape(x)[1], 1, 1}}, VariableRole::weight);
    return graph_.add_node(kConv2d, name, Conv2dAttributes{}, {x, w})[0];
  }
  std::vector<ValueId> norm(const std::string& name, ValueId x) {
    const ValueId gamma = graph_.add_variable(name + ".gamma", {.shape = {4}}, VariableRole::scale);
    const ValueId beta = graph_.add_variable(name + ".beta", {.shape = {4}}, VariableRole::shift);
    return graph_.add_node(kBatchNorm, name, BatchNormAttributes{}, {x, gamma, beta});
  }
  void end_with(ValueId x) {
    x = graph_.add_node(kSpatialMean, "mean", {}, {x})[0];
    graph_.set_output("loss", graph_.add_node(kSoftmaxCrossEntropy, "loss",
                                              SoftmaxCrossEntropyAttributes{}, {x, labels_})[0]);
  }

  Graph graph_;
  ValueId x_ = graph_.add_input("x", {.shape = {2, 3, 4, 4}});
  ValueId labels_ = graph_.add_input("labels", {.dtype = DType::s32, .shape = {2}});
};

TEST_F(FuseBatchNorm, GivesABatchNormWithItsEpilogueToItsConvolution) {
  const ValueId other = conv("other", x_);
  const ValueId y = norm("norm", conv("conv", x_))[0];
  ValueId sum = graph_.add_node(kAdd, "sum", {}, {y, other})[0];
  sum = graph_.add_node(kActivation, "relu", ActivationAttributes{ActivationKind::relu}, {sum})[0];
  end_with(sum);
  const Graph result = fuse_batch_norm(fuse(graph_, everything_runs), everything_runs);
  EXPECT_EQ(nodes_of(result, kBatchNorm), 0);
  ASSERT_EQ(with_batch_norm(result), 1);
  const Node& node =
      *std::find_if(result.nodes().begin(), result.nodes().end(), carries_batch_norm);
  EXPECT_EQ(node.name, "conv");
  const auto& norm = *node.attributes.as<Conv2dAttributes>().batch_norm;
  EXPECT_EQ(norm.epilogue, (Epilogue{.residual = true, .activation = ActivationKind::relu}));
  EXPECT_EQ(node.inputs.size(), 5U);
  ASSERT_EQ(node.outputs.size(), kNormalised + 1);
  EXPECT_EQ(result.shape(node.outputs[0]), result.shape(node.outputs[kNormalised]));
  EXPECT_EQ(result.shape(node.outputs[1]), Shape({4}));
}

TEST_F(FuseBatchNorm, KeepsTheStatisticsForTheirReaders) {
  const auto outputs = norm("norm", conv("conv", x_));
  graph_.set_output("mean", outputs[1]);
  graph_.set_output("variance", outputs[2]);
  end_with(outputs[0]);
  const Graph result = fuse_batch_norm(graph_, everything_runs);
  const Node& node =
      *std::find_if(result.nodes().begin(), result.nodes().end(), carries_batch_norm);
  EXPECT_EQ(result.output("mean"), node.outputs[1]);
  EXPECT_EQ(result.output("variance"), node.outputs[2]);
}

TEST_F(FuseBatchNorm, LeavesAResultThatOthersRead) {
  const ValueId z = conv("conv", x_);
  const ValueId y = norm("norm", z)[0];
  end_with(graph_.add_node(kAdd, "sum", {}, {y, z})[0]);
  EXPECT_EQ(with_batch_norm(fuse_batch_norm(graph_, everything_runs)), 0);
}

TEST_F(FuseBatchNorm, LeavesAConvolutionWithAnEpilogue) {
  ValueId z = conv("conv", x_);
  z = graph_.add_node(kActivation, "relu", ActivationAttributes{ActivationKind::relu}, {z})[0];
  end_with(norm("norm", z)[0]);
  const Graph fused = fuse(graph_, everything_runs);
  ASSERT_EQ(nodes_of(fused, kActivation), 0);
  EXPECT_EQ(with_batch_norm(fuse_batch_norm(fused, everything_runs)), 0);
}

TEST_F(FuseBatchNorm, AsksTheDevice) {
  end_with(norm("norm", conv("conv", x_))[0]);
  EXPECT_EQ(with_batch_norm(fuse_batch_norm(graph_, nothing_with_batch_norm)), 0);
}

TEST_F(FuseBatchNorm, HasTheBackwardPassOfItsParts) {
  end_with(norm("norm", conv("conv", x_))[0]);
  const Graph apart = add_backward(graph_, "loss");
  const Graph together = add_backward(fuse_batch_norm(graph_, everything_runs), "loss");
  ASSERT_EQ(with_batch_norm(together), 1);
  EXPECT_EQ(together.gradients().size(), apart.gradients().size());
  for (const OpDef* op : {&kBatchNormBackward, &kConv2dBackwardWeights}) {
    EXPECT_EQ(nodes_of(together, *op), 1) << op->name;
  }
  const Graph parts = decompose_unsupported(together, nothing_with_batch_norm);
  EXPECT_EQ(with_batch_norm(parts), 0);
  EXPECT_EQ(parts.nodes().size(), apart.nodes().size());
  EXPECT_EQ(multiply_adds(parts), multiply_adds(apart));
  EXPECT_EQ(multiply_adds(together), multiply_adds(apart));
}

TEST_F(FuseBatchNorm, ComesApartAsFarAsTheDeviceNeeds) {
  ValueId y = norm("norm", conv("conv", x_))[0];
  y = graph_.add_node(kActivation, "relu", ActivationAttributes{ActivationKind::relu}, {y})[0];
  end_with(y);
  const Graph fused = fuse_batch_norm(fuse(graph_, everything_runs), everything_runs);
  const auto nothing_fused = [](const Graph&, const Node& node) {
    const bool fused_node = node.op->fused != nullptr && node.op->fused(node);
    return Support{.yes = !fused_node, .why_not = "parts only"};
  };
  const Graph halves = decompose_unsupported(fused, nothing_with_batch_norm);
  EXPECT_EQ(nodes_of(halves, kBatchNorm), 1);
  EXPECT_EQ(nodes_of(halves, kActivation), 0);
  const Graph parts = decompose_unsupported(fused, nothing_fused);
  EXPECT_EQ(nodes_of(parts, kBatchNorm), 1);
  EXPECT_EQ(nodes_of(parts, kActivation), 1);
}

}  // namespace
}  // namespace bench
