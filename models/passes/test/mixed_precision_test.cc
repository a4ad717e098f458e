#include "models/passes/mixed_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/batch_norm.h"
#include "models/ops/cast.h"
#include "models/ops/conv2d.h"
#include "models/ops/embedding.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"

namespace bench {
namespace {

using testing::Each;
using testing::SizeIs;

/// images -> conv2d -> batch_norm -> spatial_mean -> fully_connected -> loss, with an L2 sum.
Graph network() {
  Graph graph;
  const ValueId images = graph.add_input("images", {.shape = {2, 3, 4, 4}});
  const ValueId labels = graph.add_input("labels", {.dtype = DType::s32, .shape = {2}});
  const auto variable = [&](const std::string& name, const Shape& shape) {
    return graph.add_variable(name, {.shape = shape}, VariableRole::weight);
  };
  const ValueId filter = variable("conv.weight", {8, 3, 3, 3});
  const ValueId gamma = variable("bn.weight", {8});
  const ValueId beta = variable("bn.bias", {8});
  const ValueId matrix = variable("fc.weight", {5, 8});
  ValueId x = graph.add_node(kConv2d, "conv", Conv2dAttributes{.window = {.kernel = {3, 3}}},
                             {images, filter})[0];
  x = graph.add_node(kBatchNorm, "bn", BatchNormAttributes{}, {x, gamma, beta})[0];
  x = graph.add_node(kSpatialMean, "mean", {}, {x})[0];
  x = graph.add_node(kFullyConnected, "fc", FullyConnectedAttributes{}, {x, matrix})[0];
  graph.set_output("logits", x);
  graph.set_output("loss", graph.add_node(kSoftmaxCrossEntropy, "loss",
                                          SoftmaxCrossEntropyAttributes{}, {x, labels})[0]);
  graph.set_output("l2_loss",
                   graph.add_node(kL2Loss, "l2", L2LossAttributes{}, {filter, matrix})[0]);
  return graph;
}

const Node& node_of(const Graph& graph, const OpDef& op) {
  return *std::find_if(graph.nodes().begin(), graph.nodes().end(),
                       [&](const Node& node) { return node.op == &op; });
}

std::vector<DType> input_types(const Graph& graph, const Node& node) {
  std::vector<DType> types;
  std::transform(node.inputs.begin(), node.inputs.end(), std::back_inserter(types),
                 [&](ValueId id) { return graph.type(id).dtype; });
  return types;
}

std::vector<DType> variable_types(const Graph& graph) {
  std::vector<DType> types;
  for (const Variable& variable : graph.variables()) {
    types.push_back(graph.type(variable.value).dtype);
  }
  return types;
}

TEST(MixedPrecisionTest, LayersReadHalvesAndVectorsStayWide) {
  const Graph graph = mixed_precision(network(), DType::bf16, Weights16::cast);
  using testing::ElementsAre;
  EXPECT_THAT(input_types(graph, node_of(graph, kConv2d)), ElementsAre(DType::bf16, DType::bf16));
  EXPECT_THAT(input_types(graph, node_of(graph, kBatchNorm)),
              ElementsAre(DType::bf16, DType::f32, DType::f32));
  EXPECT_THAT(input_types(graph, node_of(graph, kFullyConnected)),
              ElementsAre(DType::bf16, DType::bf16));
  EXPECT_THAT(variable_types(graph), Each(DType::f32));
}

TEST(MixedPrecisionTest, LossesAndOutputsAreWide) {
  const Graph graph = mixed_precision(network(), DType::f16, Weights16::cast);
  EXPECT_EQ(input_types(graph, node_of(graph, kSoftmaxCrossEntropy))[0], DType::f32);
  EXPECT_THAT(input_types(graph, node_of(graph, kL2Loss)), Each(DType::f32));
  EXPECT_EQ(graph.type(graph.output("logits")).dtype, DType::f32);
}

TEST(MixedPrecisionTest, EveryGradientHasTheTypeOfItsVariable) {
  const Graph graph =
      add_backward(mixed_precision(network(), DType::bf16, Weights16::cast), "loss");
  EXPECT_THAT(graph.gradients(), SizeIs(4));
  for (const auto& [variable, gradient] : graph.gradients()) {
    EXPECT_EQ(graph.type(gradient), graph.type(variable)) << graph.value(variable).name;
  }
}

TEST(MixedPrecisionTest, CastsEachValueOnce) {
  const Graph graph = mixed_precision(network(), DType::bf16, Weights16::cast);
  // Images, two filters, and the logits for loss and output together.
  EXPECT_EQ(std::count_if(graph.nodes().begin(), graph.nodes().end(),
                          [](const Node& node) { return node.op == &kCast; }),
            4);
}

TEST(MixedPrecisionTest, InferenceStoresTheFiltersInHalves) {
  Graph network;
  const ValueId images = network.add_input("images", {.shape = {2, 3, 4, 4}});
  const ValueId filter =
      network.add_variable("conv.weight", {.shape = {8, 3, 3, 3}}, VariableRole::weight);
  network.set_output(
      "features", network.add_node(kConv2d, "conv", Conv2dAttributes{.window = {.kernel = {3, 3}}},
                                   {images, filter})[0]);
  const Graph graph = mixed_precision(network, DType::bf16, Weights16::stored);
  EXPECT_THAT(variable_types(graph), Each(DType::bf16));
  EXPECT_THAT(graph.nodes(), SizeIs(3));
}

/// A table is larger than the rows that are read: casting all of it would take longer.
TEST(MixedPrecisionTest, AnEmbeddingReadsItsTableAsItIs) {
  Graph network;
  const ValueId ids = network.add_input("ids", {.dtype = DType::s32, .shape = {4}});
  const ValueId table = network.add_variable("table", {.shape = {10, 6}}, VariableRole::weight);
  network.set_output("rows", network.add_node(kEmbedding, "rows", {}, {table, ids})[0]);
  const auto first_reads = [&](Weights16 weights) {
    const Graph graph = mixed_precision(network, DType::bf16, weights);
    return input_types(graph, graph.nodes()[0])[0];
  };
  EXPECT_EQ(first_reads(Weights16::cast), DType::f32);
  EXPECT_EQ(first_reads(Weights16::stored), DType::bf16);
}

TEST(MixedPrecisionTest, OtherTypesAreRefused) {
  EXPECT_THROW(mixed_precision(network(), DType::f64, Weights16::cast), InternalError);
}

}  // namespace
}  // namespace bench
