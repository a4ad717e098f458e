#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/batch_norm.h"
#include "models/ops/channel_slice.h"
#include "models/ops/concat.h"
#include "models/ops/conv2d.h"
#include "models/ops/dropout.h"
#include "models/ops/moving_average.h"
#include "models/ops/pool.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

Graph network(std::string_view name, std::string_view dataset = "imagenet") {
  return build_network(*find_model(name, dataset), {.batch = 2});
}

const Node& node_named(const Graph& graph, std::string_view name) {
  const auto nodes = graph.nodes();
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  check(found != nodes.end(), fmt::format("node {} does not exist", name));
  return *found;
}

/// The name of the node or input that is the input at `position` of the node named `name`.
std::string source(const Graph& graph, std::string_view name, std::size_t position = 0) {
  const Value& value = graph.value(node_named(graph, name).inputs.at(position));
  return value.origin == Value::Origin::node
             ? graph.nodes()[static_cast<std::size_t>(value.producer)].name
             : value.name;
}

Window window(const Graph& graph, std::string_view conv) {
  return node_named(graph, conv).attributes.as<Conv2dAttributes>().window;
}

std::array<std::int64_t, 3> stride_and_pads(const Window& window) {
  return {window.stride[0], window.pad_before[0], window.pad_after[0]};
}

const Initializer& initializer(const Graph& graph, std::string_view variable) {
  const auto variables = graph.variables();
  const auto found = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) {
    return graph.value(v.value).name == variable;
  });
  check(found != variables.end(), fmt::format("variable {} does not exist", variable));
  return found->initial;
}

TEST(ResNet, PadsItsStemEvenlyAndItsPoolAtTheEnd) {
  for (const char* name : {"resnet50", "resnet50_v1.5", "resnet50_v2", "official_resnet18"}) {
    const Graph graph = network(name);
    EXPECT_EQ(stride_and_pads(window(graph, "conv1")), (std::array<std::int64_t, 3>{2, 3, 3}));
    const auto& pool = node_named(graph, "maxpool").attributes.as<PoolAttributes>();
    EXPECT_EQ(stride_and_pads(pool.window), (std::array<std::int64_t, 3>{2, 0, 1}));
  }
}

TEST(ResNet, HasItsStrideWhereItsVersionSays) {
  using Strides = std::array<std::int64_t, 3>;
  const auto strides = [](std::string_view name) {
    const Graph graph = network(name);
    return Strides{window(graph, "layer2.0.downsample.0").stride[0],
                   window(graph, "layer2.0.conv1").stride[0],
                   window(graph, "layer2.0.conv2").stride[0]};
  };
  EXPECT_EQ(strides("resnet50"), (Strides{2, 2, 1}));
  EXPECT_EQ(strides("resnet50_v2"), (Strides{2, 2, 1}));
  EXPECT_EQ(strides("resnet50_v1.5"), (Strides{2, 1, 2}));
  EXPECT_EQ(strides("official_resnet50"), (Strides{2, 1, 2}));
  EXPECT_EQ(strides("official_resnet50_v2"), (Strides{2, 1, 2}));
  EXPECT_EQ(strides("official_resnet34"), (Strides{2, 2, 1}));
}

TEST(ResNetV2, ProjectsTheActivatedInputAndLeavesTheIdentityRaw) {
  for (const char* name : {"resnet50_v2", "official_resnet18_v2"}) {
    const Graph graph = network(name);
    EXPECT_EQ(source(graph, "layer2.0.downsample.0"), "layer2.0.relu1");
    EXPECT_EQ(source(graph, "layer2.0.conv1"), "layer2.0.relu1");
    EXPECT_EQ(source(graph, "layer2.0.add", 1), "layer2.0.downsample.0");
    EXPECT_EQ(source(graph, "layer2.1.add", 1), "layer2.0.add");
    EXPECT_EQ(source(graph, "layer2.1.bn1"), "layer2.0.add");
    EXPECT_EQ(source(graph, "mean"), "relu2");
  }
}

TEST(ResNetV2, HasBatchNormAfterItsStemUnlessOfficial) {
  EXPECT_EQ(source(network("resnet50_v2"), "maxpool"), "relu");
  EXPECT_EQ(source(network("official_resnet50_v2"), "maxpool"), "conv1");
  EXPECT_EQ(source(network("official_resnet50"), "maxpool"), "relu");
}

TEST(ResNetV1, ActivatesTheSum) {
  const Graph graph = network("resnet50");
  EXPECT_EQ(source(graph, "layer1.0.add", 1), "layer1.0.downsample.1");
  EXPECT_EQ(source(graph, "layer1.1.add", 1), "layer1.0.relu3");
  EXPECT_EQ(source(graph, "layer1.1.add", 0), "layer1.1.bn3");
}

TEST(CifarResNet, WidensItsShortcutWithZerosOnBothSides) {
  const Graph graph = network("resnet20", "cifar10");
  EXPECT_EQ(source(graph, "layer2.0.add", 1), "layer2.0.pad");
  EXPECT_EQ(source(graph, "layer2.0.pool"), "layer1.2.relu2");
  const auto& pad = node_named(graph, "layer2.0.pad").attributes.as<ChannelPadAttributes>();
  EXPECT_EQ(pad, (ChannelPadAttributes{.before = 8, .after = 8}));
  EXPECT_EQ(stride_and_pads(window(graph, "layer2.0.conv1")),
            (std::array<std::int64_t, 3>{2, 0, 1}));
  EXPECT_EQ(source(network("resnet20_v2", "cifar10"), "layer2.0.pool"), "layer1.2.add");
}

TEST(CifarResNet, ActivatesItsStemInV2Alone) {
  EXPECT_EQ(source(network("resnet20", "cifar10"), "layer1.0.conv1"), "bn1");
  const Graph v2 = network("resnet20_v2", "cifar10");
  EXPECT_EQ(source(v2, "layer1.0.bn1"), "relu1");
  EXPECT_EQ(source(v2, "layer1.0.add", 1), "relu1");
  EXPECT_EQ(source(v2, "mean"), "relu2");
}

TEST(Inception, SharesTheStemOfAForkedColumn) {
  const Graph graph = network("inception3");
  // The first 8x8 module: 1x1; 1x1, then 1x3 and 3x1; 1x1, 3x3, then 1x3 and 3x1.
  EXPECT_EQ(source(graph, "conv78"), source(graph, "conv79"));
  EXPECT_EQ(window(graph, "conv78").kernel, (std::array<std::int64_t, 2>{1, 3}));
  EXPECT_EQ(window(graph, "conv79").kernel, (std::array<std::int64_t, 2>{3, 1}));
  EXPECT_EQ(source(graph, "conv82"), source(graph, "conv83"));
}

TEST(Inception, JoinsAsManyChannelsAsPublished) {
  const auto widths = [](std::string_view name) {
    const Graph graph = network(name);
    std::vector<std::int64_t> channels;
    for (const Node& node : graph.nodes()) {
      if (node.op == &kConcat) {
        channels.push_back(graph.shape(node.outputs[0])[1]);
      }
    }
    return channels;
  };
  EXPECT_EQ(widths("googlenet"),
            (std::vector<std::int64_t>{256, 480, 512, 512, 512, 528, 832, 832, 1024}));
  EXPECT_EQ(widths("inception3"),
            (std::vector<std::int64_t>{256, 288, 288, 768, 768, 768, 768, 768, 1280, 2048, 2048}));
  EXPECT_EQ(widths("inception4"),
            (std::vector<std::int64_t>{160, 192, 384, 384, 384, 384, 384, 1024, 1024, 1024, 1024,
                                       1024, 1024, 1024, 1024, 1536, 1536, 1536, 1536}));
}

/// Decay, epsilon, and whether there is a gamma.
using Norm = std::tuple<double, double, bool>;

std::set<Norm> norms(const Graph& graph) {
  std::set<Norm> found;
  for (const Node& node : graph.nodes()) {
    if (node.op == &kBatchNorm) {
      const auto& attributes = node.attributes.as<BatchNormAttributes>();
      const auto& average = node_named(graph, node.name + "/running_var");
      found.insert({average.attributes.as<MovingAverageAttributes>().pairs.at(0).decay,
                    attributes.epsilon, attributes.scale});
    }
  }
  return found;
}

TEST(BatchNorm, HasTheConstantsOfItsNetwork) {
  const Norm plain{0.999, 1e-3, false};
  const Norm resnet{0.9, 1e-5, true};
  const Norm official{0.997, 1e-5, true};
  using Norms = std::set<Norm>;
  EXPECT_EQ(norms(network("inception3")), Norms{plain});
  EXPECT_EQ(norms(network("inception4")), Norms{plain});
  EXPECT_EQ(norms(network("resnet50")), Norms{resnet});
  EXPECT_EQ(norms(network("resnet50_v2")), (Norms{plain, resnet}));
  EXPECT_EQ(norms(network("official_resnet18")), Norms{official});
  EXPECT_EQ(norms(network("official_resnet18_v2")), Norms{official});
  EXPECT_EQ(norms(network("mobilenet")), (Norms{{0.997, 1e-3, true}}));
  EXPECT_EQ(norms(network("resnet20", "cifar10")), Norms{resnet});
  EXPECT_EQ(norms(network("resnet20_v2", "cifar10")), (Norms{plain, resnet}));
  EXPECT_EQ(norms(network("densenet40_k12", "cifar10")), Norms{resnet});
}

TEST(Dropout, KeepsTheShareOfItsNetwork) {
  const auto kept = [](std::string_view name) {
    const Graph graph = network(name);
    std::vector<double> shares;
    for (const Node& node : graph.nodes()) {
      if (node.op == &kDropout) {
        shares.push_back(node.attributes.as<DropoutAttributes>().keep);
      }
    }
    return shares;
  };
  using Shares = std::vector<double>;
  for (const char* name : {"alexnet", "overfeat", "vgg11"}) {
    EXPECT_EQ(kept(name), (Shares{0.5, 0.5})) << name;
  }
  EXPECT_EQ(kept("inception4"), Shares{0.8});
  EXPECT_EQ(kept("mobilenet"), Shares{0.8});
  EXPECT_EQ(kept("inception3"), Shares{});
  EXPECT_EQ(kept("googlenet"), Shares{});
}

TEST(Weights, BeginAsTheirNetworkSays) {
  const Graph alexnet = network("alexnet", "cifar10");
  EXPECT_EQ(initializer(alexnet, "conv0.weight").stddev, 0.05);
  EXPECT_EQ(initializer(alexnet, "conv0.bias").mean, 0);
  EXPECT_EQ(initializer(alexnet, "conv1.bias").mean, 0.1);
  EXPECT_EQ(initializer(alexnet, "fc1.weight").stddev, 0.04);
  EXPECT_EQ(initializer(alexnet, "fc1.bias").mean, 0.1);
  EXPECT_EQ(initializer(alexnet, "fc.weight").stddev, std::sqrt(1.0 / 192));
  const Graph densenet = network("densenet40_k12", "cifar10");
  EXPECT_EQ(initializer(densenet, "conv1.weight").stddev, std::sqrt(2.0 / 9 / 12));
  EXPECT_EQ(initializer(densenet, "conv13.weight").stddev, std::sqrt(2.0 / 9 / 160));
  const Graph mobilenet = network("mobilenet");
  for (const char* name : {"conv0.weight", "conv1.weight", "conv2.weight", "fc.weight"}) {
    EXPECT_EQ(initializer(mobilenet, name).stddev, 0.09) << name;
  }
  const Graph inception = build_network(*find_model("inception3"), {.batch = 1, .aux_head = true});
  EXPECT_EQ(initializer(inception, "aux_conv1.weight").stddev, 0.01);
  EXPECT_EQ(initializer(inception, "aux_fc.weight").stddev, 0.001);
}

TEST(MobileNet, HasNoActivationAfterItsProjections) {
  const Graph graph = network("mobilenet");
  // conv0, then the block without expansion (conv1, conv2), then the first with one (conv3 ...).
  EXPECT_EQ(source(graph, "conv3"), "bn2");
  EXPECT_EQ(source(graph, "add0", 0), "bn8");
  EXPECT_EQ(source(graph, "add0", 1), "bn5");
  EXPECT_EQ(node_named(graph, "relu0").attributes.as<ActivationAttributes>().kind,
            ActivationKind::relu6);
  EXPECT_EQ(node_named(graph, "conv4").attributes.as<Conv2dAttributes>().groups, 96);
}

TEST(DenseNet, HasActivationsAfterConvolutionsOnlyInTransitions) {
  const Graph graph = network("densenet40_k12", "cifar10");
  EXPECT_EQ(source(graph, "bn0"), "conv0/bias");
  EXPECT_EQ(source(graph, "concat0", 0), "conv0/bias");
  EXPECT_EQ(source(graph, "concat0", 1), "conv1/bias");
  EXPECT_EQ(source(graph, "pool0"), "relu13");
  EXPECT_EQ(source(graph, "relu13"), "conv13/bias");
  EXPECT_EQ(source(graph, "bn13"), "pool0");
}

}  // namespace
}  // namespace bench
