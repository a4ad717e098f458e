#include "models/passes/normalize_where_read.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "models/ir/op.h"
#include "models/ops/add.h"
#include "models/ops/conv2d.h"
#include "models/ops/loss.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"
#include "models/passes/decompose.h"
#include "models/passes/fuse.h"
#include "models/passes/fuse_batch_norm.h"

namespace bench {
namespace {

Support all_runs(const Graph&, const Node&) { return {}; }

bool has_lone_statistics(const Node& node) {
  return node.op == &kConv2d && node.attributes.as<Conv2dAttributes>().statistics_only;
}

bool makes_mask(const Node& node) {
  return node.op == &kBatchNormBackward && node.attributes.as<BatchNormAttributes>().mask_from_x;
}

std::ptrdiff_t how_many(const Graph& graph, const std::function<bool(const Node&)>& which) {
  return std::ranges::count_if(graph.nodes(), which);
}

const Node& node_called(const Graph& graph, const std::string& name) {
  return *std::ranges::find(graph.nodes(), name, &Node::name);
}

/// Convolutions "a", "b" and so on, each followed by a batch norm and ReLU.
class NormalizeWhereRead : public testing::Test {
 protected:
  ValueId conv(const std::string& name, ValueId x, std::int64_t groups = 1) {
    const ValueId w = graph_.add_variable(
        name + ".w", {.shape = {4, graph_.shape(x)[1] / groups, 1, 1}}, VariableRole::weight);
    return graph_.add_node(kConv2d, name, Conv2dAttributes{.groups = groups}, {x, w})[0];
  }
  ValueId norm(const std::string& name, ValueId x, bool scale = true) {
    std::vector<ValueId> inputs{x};
    if (scale) {
      inputs.push_back(graph_.add_variable(name + ".gamma", {.shape = {4}}, VariableRole::scale));
    }
    inputs.push_back(graph_.add_variable(name + ".beta", {.shape = {4}}, VariableRole::shift));
    return graph_.add_node(kBatchNorm, name + ".norm", BatchNormAttributes{.scale = scale},
                           std::move(inputs))[0];
  }
  ValueId relu(const std::string& name, ValueId x) {
    return graph_.add_node(kActivation, name + ".relu", ActivationAttributes{ActivationKind::relu},
                           {x})[0];
  }
  ValueId layer(const std::string& name, ValueId x, std::int64_t groups = 1) {
    return relu(name, norm(name, conv(name, x, groups)));
  }
  void end_with(ValueId x) {
    x = graph_.add_node(kSpatialMean, "mean", {}, {x})[0];
    graph_.set_output("loss", graph_.add_node(kSoftmaxCrossEntropy, "loss",
                                              SoftmaxCrossEntropyAttributes{}, {x, labels_})[0]);
  }
  [[nodiscard]] Graph before() const {
    return add_backward(fuse_batch_norm(fuse(graph_, all_runs), all_runs), "loss");
  }
  void expect_unchanged(const SupportQuery& supports = all_runs) const {
    const Graph graph = normalize_where_read(before(), supports);
    EXPECT_EQ(how_many(graph, has_prologue), 0);
    EXPECT_EQ(how_many(graph, has_lone_statistics), 0);
    EXPECT_EQ(how_many(graph, makes_mask), 0);
  }

  Graph graph_;
  ValueId x_ = graph_.add_input("x", {.shape = {2, 3, 4, 4}});
  ValueId labels_ = graph_.add_input("labels", {.dtype = DType::s32, .shape = {2}});
};

TEST_F(NormalizeWhereRead, MovesTheBatchNormIntoTheConvolution) {
  end_with(layer("b", layer("a", x_)));
  const Graph graph = normalize_where_read(before(), all_runs);
  const Node& a = node_called(graph, "a");
  const Node& b = node_called(graph, "b");
  const Node& filter = node_called(graph, "b/backward_weights");
  const Node& back = node_called(graph, "a/batch_norm/backward");
  EXPECT_TRUE(has_lone_statistics(a));
  EXPECT_FALSE(has_lone_statistics(b));
  ASSERT_TRUE(has_prologue(b));
  ASSERT_TRUE(has_prologue(filter));
  ASSERT_TRUE(makes_mask(back));
  ASSERT_EQ(a.outputs.size(), 3U);
  EXPECT_EQ(graph.shape(a.outputs[0]), Shape({2, 4, 4, 4}));
  const ValueId z = a.outputs[0];
  const ValueId gamma = a.inputs[2];
  const ValueId beta = a.inputs[3];
  const ValueId mean = a.outputs[1];
  const ValueId variance = a.outputs[2];
  const auto variable = [&](const Node& node, std::size_t input) { return node.inputs[input]; };
  EXPECT_EQ(b.inputs, (std::vector{z, variable(b, 1), variable(b, 2), variable(b, 3), gamma, beta,
                                   mean, variance}));
  EXPECT_EQ(graph.value(b.inputs[1]).name, "b.w");
  EXPECT_EQ(graph.value(gamma).name, "a.gamma");
  EXPECT_EQ(graph.value(beta).name, "a.beta");
  EXPECT_EQ(filter.inputs, (std::vector{variable(filter, 0), z, gamma, beta, mean, variance}));
  EXPECT_EQ(back.inputs, (std::vector{variable(back, 0), z, gamma, beta, mean, variance}));
  const auto& prologue = *b.attributes.as<Conv2dAttributes>().prologue;
  EXPECT_EQ(prologue, (BatchNormAttributes{.epilogue = {.activation = ActivationKind::relu}}));
  EXPECT_EQ(filter.attributes.as<Conv2dBackwardWeightsAttributes>().prologue, prologue);
}

TEST_F(NormalizeWhereRead, GoesOnAlongAChain) {
  end_with(layer("c", layer("b", layer("a", x_))));
  const Graph graph = normalize_where_read(before(), all_runs);
  const Node& b = node_called(graph, "b");
  EXPECT_TRUE(has_prologue(b));
  EXPECT_TRUE(has_lone_statistics(b));
  EXPECT_EQ(how_many(graph, has_prologue), 4);
  EXPECT_EQ(how_many(graph, has_lone_statistics), 2);
  EXPECT_EQ(how_many(graph, makes_mask), 2);
}

TEST_F(NormalizeWhereRead, TakesABatchNormWithoutScale) {
  end_with(layer("b", relu("a", norm("a", conv("a", x_), false))));
  const Graph graph = normalize_where_read(before(), all_runs);
  const Node& back = node_called(graph, "a/batch_norm/backward");
  ASSERT_TRUE(makes_mask(back));
  EXPECT_EQ(graph.value(back.inputs[2]).name, "a.beta");
  EXPECT_EQ(node_called(graph, "b").inputs.size(), 7U);
}

TEST_F(NormalizeWhereRead, LeavesWhatOthersReadToo) {
  const ValueId a = layer("a", x_);
  end_with(graph_.add_node(kAdd, "sum", {}, {layer("b", a), a})[0]);
  expect_unchanged();
}

TEST_F(NormalizeWhereRead, LeavesWhatTwoConvolutionsRead) {
  const ValueId a = layer("a", x_);
  end_with(graph_.add_node(kAdd, "sum", {}, {layer("b", a), layer("c", a)})[0]);
  expect_unchanged();
}

TEST_F(NormalizeWhereRead, LeavesAnOutputOfTheGraph) {
  const ValueId a = layer("a", x_);
  graph_.set_output("a", a);
  end_with(layer("b", a));
  expect_unchanged();
}

TEST_F(NormalizeWhereRead, LeavesABatchNormWithAResidual) {
  const ValueId other = conv("other", x_);
  const ValueId sum = graph_.add_node(kAdd, "sum", {}, {norm("a", conv("a", x_)), other})[0];
  end_with(layer("b", relu("a", sum)));
  expect_unchanged();
}

TEST_F(NormalizeWhereRead, LeavesWhatAConvolutionInGroupsReads) {
  end_with(layer("b", layer("a", x_), 2));
  expect_unchanged();
}

TEST_F(NormalizeWhereRead, AsksTheDeviceForEachOfTheNodes) {
  end_with(layer("b", layer("a", x_)));
  for (const std::function<bool(const Node&)>& refused :
       std::vector<std::function<bool(const Node&)>>{
           has_lone_statistics, makes_mask,
           [](const Node& node) { return node.op == &kConv2d && has_prologue(node); },
           [](const Node& node) { return node.op != &kConv2d && has_prologue(node); }}) {
    expect_unchanged([&](const Graph&, const Node& node) {
      return Support{.yes = !refused(node), .why_not = "refused"};
    });
  }
}

TEST_F(NormalizeWhereRead, AsksForALinkOfAChainWithBoth) {
  end_with(layer("c", layer("b", layer("a", x_))));
  const Graph graph = normalize_where_read(before(), [](const Graph&, const Node& node) {
    return Support{.yes = !(has_prologue(node) && has_lone_statistics(node)),
                   .why_not = "not both"};
  });
  EXPECT_TRUE(has_prologue(node_called(graph, "b")));
  EXPECT_FALSE(has_lone_statistics(node_called(graph, "b")));
  EXPECT_FALSE(has_prologue(node_called(graph, "c")));
}

TEST_F(NormalizeWhereRead, ComesApart) {
  end_with(layer("b", layer("a", x_)));
  const Graph apart = add_backward(graph_, "loss");
  const Graph together = normalize_where_read(before(), all_runs);
  const auto in_parts = [](const Graph&, const Node& node) {
    const bool fused = node.op->fused != nullptr && node.op->fused(node);
    return Support{.yes = !fused, .why_not = "parts only"};
  };
  const Graph parts = decompose_unsupported(together, in_parts);
  EXPECT_EQ(
      how_many(parts,
               [](const Node& node) { return node.op->fused != nullptr && node.op->fused(node); }),
      0);
  EXPECT_EQ(multiply_adds(together), multiply_adds(apart));
  EXPECT_EQ(multiply_adds(parts), multiply_adds(apart));
  EXPECT_EQ(parts.gradients().size(), apart.gradients().size());
}

}  // namespace
}  // namespace bench
