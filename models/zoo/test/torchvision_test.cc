#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "models/base/philox.h"
#include "models/ir/op.h"
#include "models/ops/batch_norm.h"
#include "models/ops/drop_path.h"
#include "models/ops/moving_average.h"
#include "models/ops/pool.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

/// What torchvision 0.14 reports for a model created without weights: its batch norms' epsilon and
/// momentum, and the number of tensors in its state_dict without num_batches_tracked. The last
/// value is hash_name of their lines "<name> <extents, joined by x>\n", sorted by name.
struct Torchvision {
  std::string_view name;
  double epsilon = 0;
  double momentum = 0;
  std::size_t tensors = 0;
  std::uint64_t hash = 0;
};

std::ostream& operator<<(std::ostream& out, const Torchvision& model) { return out << model.name; }

constexpr Torchvision kModels[] = {
    {"densenet121", 1e-5, 0.1, 606, 0xF082C9B8FD55D7E7ULL},
    {"densenet169", 1e-5, 0.1, 846, 0xCCC5A26CB8B91D69ULL},
    {"densenet201", 1e-5, 0.1, 1006, 0x5EEA09A62CFD6887ULL},
    {"mobilenet_v2", 1e-5, 0.1, 262, 0xFB177D8F06753E7FULL},
    {"mobilenet_v3_large", 1e-3, 0.01, 266, 0xEE737656F8AB7574ULL},
    {"resnext50_32x4d", 1e-5, 0.1, 267, 0xFBF5A306F35EE40EULL},
    {"wide_resnet50_2", 1e-5, 0.1, 267, 0x43681B3DA8BD683DULL},
    {"squeezenet1_1", 0, 0, 52, 0x19AC5599A75B445EULL},
    {"shufflenet_v2_x1_0", 1e-5, 0.1, 282, 0xF5E6788F90EDDE8DULL},
    {"efficientnet_b0", 1e-5, 0.1, 311, 0x3C6996AF42A459E6ULL},
    {"torchvision_resnet50", 1e-5, 0.1, 267, 0x536158E742196701ULL},
};

Graph network(std::string_view name, bool training = true) {
  return build_network(*find_model(name), {.batch = 2, .num_classes = 1000, .training = training});
}

std::vector<const Node*> nodes_of(const Graph& graph, const OpDef& op) {
  std::vector<const Node*> found;
  for (const Node& node : graph.nodes()) {
    if (node.op == &op) {
      found.push_back(&node);
    }
  }
  return found;
}

class TorchvisionModel : public testing::TestWithParam<Torchvision> {};

TEST_P(TorchvisionModel, HasTorchvisionsVariablesByNameAndShape) {
  const Graph graph = network(GetParam().name);
  std::vector<std::string> lines;
  for (const Variable& variable : graph.variables()) {
    lines.push_back(fmt::format("{} {}\n", graph.value(variable.value).name,
                                to_string(graph.shape(variable.value))));
  }
  // A space sorts before every character of a name, so the lines are sorted by name.
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) {
    text += line;
  }
  EXPECT_EQ(lines.size(), GetParam().tensors);
  EXPECT_EQ(hash_name(text), GetParam().hash) << text;
}

TEST_P(TorchvisionModel, NormalisesWithTorchvisionsEpsilonAndMomentum) {
  const Graph graph = network(GetParam().name);
  for (const Node* node : nodes_of(graph, kBatchNorm)) {
    const auto& norm = node->attributes.as<BatchNormAttributes>();
    EXPECT_EQ(norm.epsilon, GetParam().epsilon) << node->name;
    EXPECT_TRUE(norm.scale) << node->name;
  }
  for (const Node* node : nodes_of(graph, kMovingAverage)) {
    EXPECT_DOUBLE_EQ(node->attributes.as<MovingAverageAttributes>().pairs.at(0).decay,
                     1 - GetParam().momentum)
        << node->name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TorchvisionModel, testing::ValuesIn(kModels),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(SqueezeNet, PoolsIncludingTheLastPixels) {
  const Graph graph = network("squeezenet1_1");
  std::vector<std::int64_t> heights;
  for (const Node* pool : nodes_of(graph, kMaxPool)) {
    heights.push_back(graph.shape(pool->outputs[0])[2]);
  }
  EXPECT_EQ(heights, (std::vector<std::int64_t>{55, 27, 13}));
  const Graph even = build_network(*find_model("squeezenet1_1"), {.batch = 1, .image_size = 225});
  EXPECT_EQ(even.shape(nodes_of(even, kMaxPool)[0]->outputs[0])[2], 56);
}

TEST(EfficientNet, DropsResidualBranchesWithAProbabilityThatRisesLinearlyWithDepth) {
  const Graph graph = network("efficientnet_b0");
  std::vector<double> dropped;
  for (const Node* node : nodes_of(graph, kDropPath)) {
    const auto& attributes = node->attributes.as<DropPathAttributes>();
    EXPECT_EQ(attributes.ramp_steps, 0);
    dropped.push_back(1 - attributes.keep);
  }
  // The first block of each stage has no residual.
  const std::vector<double> blocks{2, 4, 6, 7, 9, 10, 12, 13, 14};
  ASSERT_EQ(dropped.size(), blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_NEAR(dropped[i], 0.2 * blocks[i] / 16, 1e-12);
  }
}

TEST(EfficientNet, DropsNothingForInference) {
  const Graph graph = network("efficientnet_b0", /*training=*/false);
  EXPECT_TRUE(nodes_of(graph, kDropPath).empty());
  EXPECT_EQ(graph.inputs().size(), 1);
}

TEST(TorchvisionResNet50, BeginsWithBiasesThatAreNotAllZero) {
  const Graph graph = network("torchvision_resnet50");
  const auto variables = graph.variables();
  const auto bias = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) {
    return graph.value(v.value).name == "fc.bias";
  });
  ASSERT_NE(bias, variables.end());
  EXPECT_EQ(bias->initial.kind, Initializer::Kind::uniform);
  // Uniform within 1 / sqrt(2048).
  EXPECT_NEAR(bias->initial.stddev, 0.0127578, 1e-7);
}

}  // namespace
}  // namespace bench
