#include "models/passes/gradient_sums.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/conv2d.h"
#include "models/ops/loss.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"
#include "models/passes/decompose.h"
#include "models/passes/fuse.h"

namespace bench {
namespace {

Support anything(const Graph&, const Node&) { return {}; }

Support no_two_gradients(const Graph&, const Node& node) {
  const bool two =
      node.op == &kBatchNormBackward && node.attributes.as<BatchNormAttributes>().two_gradients;
  return {.yes = !two, .why_not = "one gradient at a time"};
}

std::ptrdiff_t count(const Graph& graph, const OpDef& op) {
  return std::count_if(graph.nodes().begin(), graph.nodes().end(),
                       [&](const Node& node) { return node.op == &op; });
}

/// stem (a batch norm), then a branch (conv, batch norm) whose result is added to the stem's.
class GradientSums : public testing::Test {
 protected:
  ValueId norm(const std::string& name, ValueId x) {
    const ValueId beta = graph_.add_variable(name + ".beta", {.shape = {4}}, VariableRole::shift);
    return graph_.add_node(kBatchNorm, name, BatchNormAttributes{.scale = false}, {x, beta})[0];
  }
  ValueId conv(const std::string& name, ValueId x) {
    const ValueId w =
        graph_.add_variable(name, {.shape = {4, graph_.shape(x)[1], 1, 1}}, VariableRole::weight);
    return graph_.add_node(kConv2d, name, Conv2dAttributes{}, {x, w})[0];
  }
  Graph backward(ValueId stem) {
    const ValueId branch = norm("branch", conv("branch_conv", stem));
    ValueId x = graph_.add_node(kAdd, "sum", {}, {branch, stem})[0];
    x = graph_.add_node(kSpatialMean, "mean", {}, {x})[0];
    graph_.set_output("loss", graph_.add_node(kSoftmaxCrossEntropy, "loss",
                                              SoftmaxCrossEntropyAttributes{}, {x, labels_})[0]);
    return add_backward(fuse(graph_, anything), "loss");
  }

  Graph graph_;
  ValueId x_ = graph_.add_input("x", {.shape = {2, 3, 4, 4}});
  ValueId labels_ = graph_.add_input("labels", {.dtype = DType::s32, .shape = {2}});
};

TEST_F(GradientSums, AreMadeByTheBatchNormThatReadsThem) {
  const Graph before = backward(norm("stem", conv("stem_conv", x_)));
  ASSERT_EQ(count(before, kAdd), 1);
  const Graph graph = sum_gradients_where_read(before, anything);
  EXPECT_EQ(count(graph, kAdd), 0);
  const auto stem = std::find_if(graph.nodes().begin(), graph.nodes().end(),
                                 [](const Node& node) { return node.name == "stem/backward"; });
  ASSERT_NE(stem, graph.nodes().end());
  EXPECT_TRUE(stem->attributes.as<BatchNormAttributes>().two_gradients);
  EXPECT_NE(stem->inputs.front(), stem->inputs.back());
  EXPECT_EQ(graph.gradients().size(), before.gradients().size());
}

TEST_F(GradientSums, StayWhereTheDeviceReadsOneGradient) {
  const Graph before = backward(norm("stem", conv("stem_conv", x_)));
  EXPECT_EQ(count(sum_gradients_where_read(before, no_two_gradients), kAdd), 1);
}

// The batch norm's term alone would stand where the sum stood.
TEST_F(GradientSums, StayWhereSomethingElseReadsThemToo) {
  Graph before = backward(norm("stem", conv("stem_conv", x_)));
  const auto sum = std::find_if(before.nodes().begin(), before.nodes().end(),
                                [](const Node& node) { return node.op == &kAdd; });
  ASSERT_NE(sum, before.nodes().end());
  const ValueId value = sum->outputs[0];
  Graph as_output = before;
  as_output.set_output("sum", value);
  EXPECT_EQ(count(sum_gradients_where_read(as_output, anything), kAdd), 1);
  before.add_node(kActivation, "reader", ActivationAttributes{}, {value});
  EXPECT_EQ(count(sum_gradients_where_read(before, anything), kAdd), 1);
}

TEST_F(GradientSums, StayInFrontOfOtherOps) {
  const Graph before = backward(conv("stem_conv", x_));
  ASSERT_EQ(count(before, kAdd), 1);
  EXPECT_EQ(count(sum_gradients_where_read(before, anything), kAdd), 1);
}

TEST_F(GradientSums, AreTakenApartAgain) {
  const Graph before = backward(norm("stem", conv("stem_conv", x_)));
  const Graph graph =
      decompose_unsupported(sum_gradients_where_read(before, anything), no_two_gradients);
  EXPECT_EQ(count(graph, kAdd), 1);
}

}  // namespace
}  // namespace bench
