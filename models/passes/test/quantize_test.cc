#include "models/passes/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"
#include "models/ops/quantized.h"
#include "models/passes/fuse.h"
#include "models/passes/fuse_concat.h"
#include "models/zoo/builder.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Support all(const Graph&, const Node&) { return {}; }

/// Images and a builder for inference around them.
struct Network {
  Graph graph = {};
  NetworkBuilder net{graph, {.num_classes = 5, .training = false}};
  ValueId images = graph.add_input("images", {.shape = {2, 3, 8, 8}});

  ValueId conv_relu(const std::string& name, ValueId x) {
    return net.relu(name + ".relu", net.conv(name, x, {.channels = 8, .window = {.kernel = 3}}));
  }
  [[nodiscard]] QuantizedGraph quantized(const SupportQuery& supports = all) const {
    const Graph fused = fuse(graph, all);
    return quantize(fused, unknown_ranges(fused), supports);
  }
};

std::vector<std::string_view> ops_of(const Graph& graph) {
  std::vector<std::string_view> names;
  for (const Node& node : graph.nodes()) {
    names.push_back(node.op->name);
  }
  return names;
}

const Node& node_named(const Graph& graph, std::string_view name) {
  const auto nodes = graph.nodes();
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  check(found != nodes.end(), fmt::format("node {} does not exist", name));
  return *found;
}

TEST(Quantize, RunsInInt8FromImagesToLogits) {
  Network network;
  ValueId x = network.conv_relu("a", network.images);
  x = network.net.max_pool("pool", x, {.kernel = 2, .stride = 2});
  x = network.conv_relu("b", x);
  network.graph.set_output("logits", network.net.head(network.net.spatial_mean("mean", x)));
  const QuantizedGraph quantized = network.quantized();
  EXPECT_THAT(ops_of(quantized.graph),
              ElementsAre("quantize", "quantized_conv2d", "max_pool", "quantized_conv2d",
                          "quantized_spatial_mean", "quantize", "quantized_fully_connected"));
  EXPECT_EQ(quantized.graph.type(quantized.graph.output("logits")).dtype, DType::f32);
  EXPECT_EQ(quantized.graph.type(node_named(quantized.graph, "pool").outputs[0]).dtype, DType::u8);
  EXPECT_EQ(quantized.graph.type(node_named(quantized.graph, "images/quantize").outputs[0]).dtype,
            DType::s8);
  ASSERT_EQ(quantized.weights.size(), 3);
  EXPECT_EQ(quantized.weights[0],
            (QuantizedWeight{.weight = "a.weight", .scales = "a.weight.scales", .channels = 8}));
  EXPECT_EQ(multiply_adds(quantized.graph), multiply_adds(network.graph));
}

TEST(Quantize, TakesScaleAndSignFromTheRange) {
  Network network;
  ValueId x = network.conv_relu("a", network.images);
  x = network.net.conv("b", x, {.channels = 8});
  network.graph.set_output("y", network.net.conv("c", x, {.channels = 8}));
  const Graph fused = fuse(network.graph, all);
  const QuantizedGraph quantized =
      quantize(fused, {{"images", {-1, 2}}, {"a", {0, 510}}, {"b", {-254, 100}}}, all);
  const auto& a = node_named(quantized.graph, "a").attributes.as<QuantizedConv2dAttributes>();
  EXPECT_DOUBLE_EQ(a.input_scale, 2.0 / 127);
  EXPECT_EQ(a.output, (QuantizedOutput{.dtype = DType::u8, .scale = 2}));
  const auto& b = node_named(quantized.graph, "b").attributes.as<QuantizedConv2dAttributes>();
  EXPECT_EQ(b.output, (QuantizedOutput{.dtype = DType::s8, .scale = 2}));
  EXPECT_EQ(node_named(quantized.graph, "c").attributes.as<QuantizedConv2dAttributes>().output,
            QuantizedOutput{});
}

TEST(Quantize, GivesAllInputsOfAConcatOneScale) {
  Network network;
  const ValueId a = network.conv_relu("a", network.images);
  const ValueId b = network.net.conv("b", network.images, {.channels = 8});
  const ValueId x = network.net.concat("join", std::array{a, b});
  network.graph.set_output("y", network.net.conv("c", x, {.channels = 8}));
  const Graph fused = fuse(network.graph, all);
  const QuantizedGraph quantized = quantize(
      fused, {{"images", {-1, 1}}, {"a", {0, 381}}, {"b", {-254, 100}}, {"join", {-254, 381}}},
      all);
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(node_named(quantized.graph, name).attributes.as<QuantizedConv2dAttributes>().output,
              (QuantizedOutput{.dtype = DType::s8, .scale = 3}))
        << name;
  }
}

TEST(Quantize, ComputesNonlinearActivationsInFloats) {
  Network network;
  ValueId x = network.net.conv("a", network.images, {.channels = 8});
  x = network.net.activation("silu", x, ActivationKind::silu);
  network.graph.set_output("y", network.net.conv("b", x, {.channels = 8}));
  const QuantizedGraph quantized = network.quantized();
  EXPECT_THAT(ops_of(quantized.graph), ElementsAre("quantize", "quantized_conv2d", "activation",
                                                   "quantize", "quantized_conv2d"));
}

TEST(Quantize, AddsInInt8) {
  Network network;
  const ValueId a = network.conv_relu("a", network.images);
  const ValueId b = network.conv_relu("b", a);
  const ValueId sum = network.net.add("sum", b, a);
  network.graph.set_output("first", network.net.conv("c", sum, {.channels = 8}));
  network.graph.set_output("second", network.net.conv("d", b, {.channels = 8}));
  const QuantizedGraph quantized = network.quantized();
  EXPECT_THAT(ops_of(quantized.graph),
              ElementsAre("quantize", "quantized_conv2d", "quantized_conv2d", "quantized_add",
                          "quantized_conv2d", "quantized_conv2d"));
}

TEST(Quantize, AddsARealResidualToARealResult) {
  Network network;
  const ValueId a = network.conv_relu("a", network.images);
  const ValueId sum = network.net.add("sum", network.net.conv("b", a, {.channels = 8}), a);
  network.graph.set_output("y", network.net.activation("silu", sum, ActivationKind::silu));
  const QuantizedGraph quantized = network.quantized();
  EXPECT_THAT(ops_of(quantized.graph), ElementsAre("quantize", "quantized_conv2d", "dequantize",
                                                   "quantized_conv2d", "activation"));
  EXPECT_EQ(quantized.graph.type(node_named(quantized.graph, "b").outputs[0]).dtype, DType::f32);
}

/// Two convolutions of 8 channels, and batch norms after them. The second absorbs their sum.
struct NormNetwork : Network {
  ValueId a = conv("a", images);
  ValueId b = conv("b", images);

  ValueId conv(const std::string& name, ValueId x) { return net.conv(name, x, {.channels = 8}); }
  ValueId norm_relu(const std::string& name, ValueId x) {
    return net.relu(name + ".relu", net.batch_norm(name, x, {}));
  }
  [[nodiscard]] std::vector<std::string_view> ops_after_inputs(const SupportQuery& supports = all) {
    const Graph fused = fuse_concat(fuse(graph, all), all);
    result = quantize(fused, unknown_ranges(fused), supports);
    // Without the images' quantize and the two convolutions.
    std::vector<std::string_view> ops = ops_of(result.graph);
    ops.erase(ops.begin(), ops.begin() + 3);
    return ops;
  }
  QuantizedGraph result;
};

TEST(Quantize, WritesQuantaFromTheBatchNormOfAConcat) {
  NormNetwork network;
  const ValueId x =
      network.norm_relu("m", network.net.concat("join", std::array{network.a, network.b}));
  network.graph.set_output("y", network.conv("c", x));
  EXPECT_THAT(network.ops_after_inputs(), ElementsAre("concat_batch_norm", "quantized_conv2d"));
  const Node& norm = node_named(network.result.graph, "m");
  EXPECT_EQ(network.result.graph.type(norm.outputs[0]).dtype, DType::u8);
  EXPECT_EQ(network.result.graph.type(norm.inputs[0]).dtype, DType::f32);
}

TEST(Quantize, WritesQuantaFromABatchNormForSeveralReaders) {
  NormNetwork network;
  const ValueId sum = network.net.add("sum", network.a, network.b);
  const ValueId x = network.net.batch_norm("m", sum, {});
  network.graph.set_output("y", network.conv("c", x));
  network.graph.set_output("z", network.conv("d", x));
  EXPECT_THAT(network.ops_after_inputs(),
              ElementsAre("concat_batch_norm", "quantized_conv2d", "quantized_conv2d"));
  const Node& norm = node_named(network.result.graph, "m");
  EXPECT_EQ(network.result.graph.type(norm.outputs[0]).dtype, DType::s8);
}

TEST(Quantize, KeepsABatchNormInFloatsThatAResultNeeds) {
  NormNetwork network;
  const ValueId x = network.norm_relu("m", network.net.add("sum", network.a, network.b));
  network.graph.set_output("y", network.conv("c", x));
  network.graph.set_output("z", x);
  EXPECT_THAT(network.ops_after_inputs(),
              ElementsAre("batch_norm_inference", "quantize", "quantized_conv2d"));
}

TEST(Quantize, DoesNotReportARefusedBatchNorm) {
  NormNetwork network;
  const ValueId x = network.norm_relu("m", network.net.add("sum", network.a, network.b));
  network.graph.set_output("y", network.conv("c", x));
  const auto no_fused_norm = [](const Graph&, const Node& node) {
    return Support{.yes = node.op->name != "concat_batch_norm", .why_not = "no kernel"};
  };
  EXPECT_THAT(network.ops_after_inputs(no_fused_norm),
              ElementsAre("batch_norm_inference", "quantize", "quantized_conv2d"));
  EXPECT_THAT(network.result.refusals, IsEmpty());
}

TEST(Quantize, KeepsUnsupportedNodesInFloats) {
  Network network;
  ValueId x = network.conv_relu("a", network.images);
  x = network.conv_relu("b", x);
  network.graph.set_output("y", network.net.conv("c", x, {.channels = 8}));
  const QuantizedGraph quantized = network.quantized([](const Graph&, const Node& node) {
    return node.name == "b" ? Support{.yes = false, .why_not = "too odd"} : Support{};
  });
  EXPECT_THAT(ops_of(quantized.graph), ElementsAre("quantize", "quantized_conv2d", "conv2d",
                                                   "quantize", "quantized_conv2d"));
  EXPECT_THAT(quantized.refusals, ElementsAre("too odd (b)"));
}

TEST(Quantize, ChangesNothingWhereTheDeviceRefusesAll) {
  Network network;
  network.graph.set_output("y", network.conv_relu("a", network.images));
  const QuantizedGraph quantized = network.quantized(
      [](const Graph&, const Node&) { return Support{.yes = false, .why_not = "no int8"}; });
  EXPECT_THAT(ops_of(quantized.graph), ElementsAre("conv2d"));
  EXPECT_THAT(quantized.weights, IsEmpty());
  EXPECT_THAT(quantized.refusals, ElementsAre("no int8 (a)"));
}

TEST(Quantize, RequiresEveryRange) {
  Network network;
  ValueId x = network.conv_relu("a", network.images);
  network.graph.set_output("y", network.net.conv("b", x, {.channels = 8}));
  const Graph fused = fuse(network.graph, all);
  EXPECT_THROW(quantize(fused, {{"images", {-1, 1}}}, all), InternalError);
}

}  // namespace
}  // namespace bench
