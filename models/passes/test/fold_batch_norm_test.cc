#include "models/passes/fold_batch_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/ops/batch_norm.h"
#include "models/zoo/builder.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

using testing::ElementsAre;

std::vector<std::string> variable_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Variable& variable : graph.variables()) {
    names.push_back(graph.value(variable.value).name);
  }
  return names;
}

std::ptrdiff_t batch_norms(const Graph& graph) {
  return std::count_if(graph.nodes().begin(), graph.nodes().end(),
                       [](const Node& node) { return node.op == &kBatchNormInference; });
}

/// Images, a builder for inference around them.
struct Network {
  Graph graph = {};
  NetworkBuilder net{graph, {.num_classes = 5, .training = false}};
  ValueId images = graph.add_input("images", {.shape = {2, 3, 8, 8}});
};

TEST(FoldBatchNorm, LeavesAConvolutionWithABias) {
  Network network;
  ValueId x = network.net.conv("conv", network.images, {.channels = 4, .bias = false});
  x = network.net.batch_norm("bn", x, {.epsilon = 0.5, .scale = true});
  network.graph.set_output("y", x);
  const FoldedGraph folded = fold_batch_norm(network.graph);
  EXPECT_EQ(batch_norms(folded.graph), 0);
  EXPECT_THAT(variable_names(folded.graph), ElementsAre("conv.weight", "conv.folded_bias"));
  ASSERT_EQ(folded.folds.size(), 1);
  const FoldedBatchNorm& fold = folded.folds[0];
  EXPECT_EQ(fold.weight, "conv.weight");
  EXPECT_EQ(fold.gamma, "bn.weight");
  EXPECT_EQ(fold.beta, "bn.bias");
  EXPECT_EQ(fold.mean, "bn.running_mean");
  EXPECT_EQ(fold.variance, "bn.running_var");
  EXPECT_EQ(fold.old_bias, "");
  EXPECT_EQ(fold.epsilon, 0.5);
}

TEST(FoldBatchNorm, TakesInTheConvolutionsOwnBiasAndMissesNoGamma) {
  Network network;
  ValueId x = network.net.conv("conv", network.images, {.channels = 4, .bias = true});
  x = network.net.batch_norm("bn", x, {.scale = false});
  network.graph.set_output("y", x);
  const FoldedGraph folded = fold_batch_norm(network.graph);
  EXPECT_THAT(variable_names(folded.graph), ElementsAre("conv.weight", "conv.folded_bias"));
  EXPECT_EQ(folded.folds.at(0).old_bias, "conv.bias");
  EXPECT_EQ(folded.folds.at(0).gamma, "");
}

TEST(FoldBatchNorm, KeepsABatchNormThatCannotBeFolded) {
  Network network;
  const ValueId conv = network.net.conv("conv", network.images, {.channels = 3, .bias = false});
  const ValueId normed = network.net.batch_norm("bn", conv, {});
  ValueId x = network.net.add("add", conv, normed);
  x = network.net.batch_norm("bn2", network.net.relu("relu", x), {});
  network.graph.set_output("y", x);
  const FoldedGraph folded = fold_batch_norm(network.graph);
  EXPECT_TRUE(folded.folds.empty());
  EXPECT_EQ(batch_norms(folded.graph), 2);
  EXPECT_EQ(variable_names(folded.graph), variable_names(network.graph));
}

TEST(FoldBatchNorm, LeavesNoneInResNet50) {
  const Graph graph = build_network(*find_model("resnet50"), {.training = false});
  const FoldedGraph folded = fold_batch_norm(graph);
  EXPECT_EQ(folded.folds.size(), 53);
  EXPECT_EQ(batch_norms(folded.graph), 0);
}

}  // namespace
}  // namespace bench
