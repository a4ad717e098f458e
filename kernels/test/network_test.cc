// Small networks in the executor: fused, planned with shared memory and overwritten inputs, with
// running statistics written through. Backends are compared over whole steps.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/executor.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/several_ways.h"
#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/ops/activation.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"
#include "models/passes/gradient_sums.h"
#include "models/zoo/builder.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

constexpr std::int64_t kBatch = 4;
constexpr std::int64_t kSize = 16;
constexpr std::int64_t kClasses = 7;

ValueId conv_norm(NetworkBuilder& net, const std::string& path, ValueId x, std::int64_t channels,
                  const WindowSpec& window) {
  const ValueId y =
      net.conv(path + ".conv", x, {.channels = channels, .window = window, .bias = false});
  return net.batch_norm(path + ".bn", y, {.epsilon = 1e-5, .decay = 0.9, .scale = true});
}

/// A stem with max pooling, one block with an identity shortcut and one with a projection.
ValueId build_small_resnet(NetworkBuilder& net, ValueId images) {
  const WindowSpec three{.kernel = 3};
  const WindowSpec halving{.kernel = 3, .stride = 2, .padding = Padding::same_resnet};
  ValueId x = net.relu("relu", conv_norm(net, "stem", images, 32, three));
  x = net.max_pool("pool", x, {.kernel = 3, .stride = 2});
  ValueId y = net.relu("a.relu1", conv_norm(net, "a.1", x, 32, three));
  y = conv_norm(net, "a.2", y, 32, three);
  x = net.relu("a.relu2", net.add("a.add", y, x));
  const ValueId shortcut = conv_norm(net, "b.down", x, 64, {.stride = 2});
  y = net.relu("b.relu1", conv_norm(net, "b.1", x, 48, halving));
  y = conv_norm(net, "b.2", y, 64, three);
  x = net.relu("b.relu2", net.add("b.add", y, shortcut));
  return net.head(net.spatial_mean("mean", x));
}

constexpr Model kSmallResnet{.name = "small_resnet",
                             .printed_name = "small_resnet",
                             .dataset = "imagenet",
                             .image_size = kSize,
                             .default_batch = kBatch,
                             .build = build_small_resnet};

/// Every activation after an op that may fuse it, local response normalisation, dropout of images,
/// and an auxiliary loss.
ValueId build_small_mobile_net(NetworkBuilder& net, ValueId images) {
  const WindowSpec five{.kernel = 5, .stride = 2};
  ValueId x = conv_norm(net, "stem", images, 32, {.kernel = 3, .stride = 2});
  x = net.activation("stem.relu6", x, ActivationKind::relu6);
  x = net.lrn("lrn", x, {.radius = 2, .bias = 1, .alpha = 0.1, .beta = 0.75});
  ValueId y = net.conv("a.conv", x, {.channels = 32, .window = five, .groups = 32, .bias = false});
  y = net.batch_norm("a.bn", y, {.epsilon = 1e-5, .decay = 0.9, .scale = true});
  y = net.activation("a.hard_swish", y, ActivationKind::hard_swish);
  y = net.dropout("a.dropout", y, 0.8);
  net.set_aux_logits(
      net.fully_connected("aux", net.flatten("aux.flatten", y), {.outputs = net.num_classes()}),
      0.4);
  x = net.add("a.add", y, net.avg_pool("a.pool", x, {.kernel = 3, .stride = 2}));
  y = net.activation("b.silu", conv_norm(net, "b", x, 32, {}), ActivationKind::silu);
  y = net.add("b.add", y, net.conv("b.plain", x, {.channels = 32, .bias = false}));
  ValueId gate = net.global_avg_pool("c.pool", y);
  gate = net.activation("c.relu6", net.conv("c.1", gate, {.channels = 8}), ActivationKind::relu6);
  gate = net.activation("c.hard_sigmoid", net.conv("c.2", gate, {.channels = 16}),
                        ActivationKind::hard_sigmoid);
  x = net.fully_connected("d.fc", net.flatten("d.flatten", gate), {.outputs = 32});
  x = net.activation("d.sigmoid", x, ActivationKind::sigmoid);
  return net.head(net.add("d.add", x, net.spatial_mean("d.mean", y)));
}

constexpr Model kSmallMobileNet{.name = "small_mobile_net",
                                .printed_name = "small_mobile_net",
                                .dataset = "imagenet",
                                .image_size = kSize,
                                .default_batch = kBatch,
                                .build = build_small_mobile_net};

/// Loss, gradients and running statistics of one step.
using Results = std::map<std::string, std::vector<float>>;

/// Where gradients of joined paths are added.
enum class Sums { apart, where_read };

Results run_step(const Model& model, Backend& backend, DataFormat format,
                 Sums sums = Sums::where_read) {
  const Graph network = build_network(model, {.batch = kBatch,
                                              .num_classes = kClasses,
                                              .aux_head = &model == &kSmallMobileNet,
                                              .label_smoothing = 0.1});
  const SupportQuery supports = [&](const Graph& graph, const Node& node) {
    return backend.supports(graph, node);
  };
  Graph trained = add_backward(fuse(network, supports), "loss");
  if (sums == Sums::where_read) {
    trained = sum_gradients_where_read(trained, supports);
  }
  Executor executor(trained, backend, {.format = format, .poison = true});
  const Graph& graph = executor.graph();
  for (const Variable& variable : graph.variables()) {
    const std::string& name = graph.value(variable.value).name;
    RandomStream random(1, hash_name(name));
    std::vector<float> values(static_cast<std::size_t>(graph.shape(variable.value).elements()),
                              static_cast<float>(variable.initial.mean));
    for (float& value : values) {
      // Every kind of variable gets distinct values, so that a mix-up shows.
      value += static_cast<float>(variable.initial.stddev + 0.05) * random.truncated_normal();
    }
    executor.write_variable(name, values);
  }
  RandomStream random(2);
  std::vector<float> images(static_cast<std::size_t>(kBatch * 3 * kSize * kSize));
  for (float& pixel : images) {
    pixel = random.normal();
  }
  const std::vector<std::int32_t> labels{1, 6, 0, 3};
  const float scale = 1;
  executor.write_input("images", std::as_bytes(std::span(images)));
  executor.write_input("labels", std::as_bytes(std::span(labels)));
  executor.write_input("loss_scale", std::as_bytes(std::span(&scale, 1)));
  for (const ValueId input : graph.inputs()) {
    if (graph.value(input).name == "step") {
      const std::int32_t step = 3;
      executor.write_input("step", std::as_bytes(std::span(&step, 1)));
    }
  }
  executor.run();
  Results results{{"loss", {static_cast<float>(executor.read_scalar("loss"))}}};
  for (const Variable& variable : graph.variables()) {
    const std::string& name = graph.value(variable.value).name;
    results[name] =
        variable.trainable() ? executor.read_gradient(name) : executor.read_variable(name);
  }
  return results;
}

class WholeNetwork : public testing::TestWithParam<std::tuple<const Model*, DataFormat>> {};

TEST_P(WholeNetwork, HasTheReferencesLossGradientsAndRunningStatistics) {
  const auto reference = make_reference_backend();
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  const auto& [model, format] = GetParam();
  const Results expected = run_step(*model, *reference, DataFormat::nchw);
  const Results actual = run_step(*model, *backend, format);
  ASSERT_EQ(actual.size(), expected.size());
  // Rounding of a dozen layers, each a sum of some hundred products, forward and backward.
  const double tolerance = 2000 * std::numeric_limits<float>::epsilon();
  for (const auto& [name, values] : expected) {
    double square = 0;
    for (const float value : values) {
      square += static_cast<double>(value) * value;
    }
    const double size = std::sqrt(square / static_cast<double>(values.size()));
    EXPECT_GT(size, 0) << name << " is all zero";
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(actual.at(name)[i], values[i], tolerance * (size + std::abs(values[i])))
          << name << "[" << i << "]";
    }
  }
}

TEST_P(WholeNetwork, HasTheSameGradientsWhereverSumsAreMade) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  const auto& [model, format] = GetParam();
  EXPECT_EQ(run_step(*model, *backend, format, Sums::where_read),
            run_step(*model, *backend, format, Sums::apart));
}

INSTANTIATE_TEST_SUITE_P(Onednn, WholeNetwork,
                         testing::Combine(testing::Values(&kSmallResnet, &kSmallMobileNet),
                                          testing::Values(DataFormat::nchw, DataFormat::nhwc,
                                                          DataFormat::automatic)),
                         [](const auto& test) {
                           return fmt::format("{}_{}", std::get<0>(test.param)->name,
                                              name_of(std::get<1>(test.param)));
                         });

TEST(Executor, EndsBeforeItsNextKernelOnceCancelled) {
  KernelClock clock;
  SeveralWaysBackend backend(make_reference_backend(), {{.name = "only", .seconds = 1}}, clock);
  Graph graph;
  ValueId x = graph.add_input("x", {.shape = {2, 3}});
  for (const char* name : {"first", "second"}) {
    x = graph.add_node(kActivation, name, ActivationAttributes{ActivationKind::sigmoid}, {x})[0];
  }
  graph.set_output("y", x);
  Executor executor(graph, backend, {});
  const std::vector<float> values(6);
  executor.write_input("x", std::as_bytes(std::span(values)));
  executor.set_cancelled([&] { return clock.launches == 1; });
  EXPECT_THROW(executor.run(), Cancelled);
  EXPECT_EQ(clock.launches, 1);
  executor.set_cancelled({});
  executor.run();
  EXPECT_EQ(clock.launches, 3);
}

}  // namespace
}  // namespace bench
