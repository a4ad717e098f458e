#include "bench/quantize/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "bench/quantize/agreement.h"
#include "bench/quantize/quantize_values.h"
#include "bench/verify/fingerprint.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/philox.h"
#include "models/passes/fold_batch_norm.h"
#include "models/passes/fuse.h"
#include "models/zoo/builder.h"
#include "variable_mgmt/fold_values.h"

namespace bench {
namespace {

constexpr std::int64_t kBatch = 4;
constexpr std::int64_t kSize = 16;
constexpr std::int64_t kClasses = 10;

ValueId conv_norm(NetworkBuilder& net, const std::string& path, ValueId x, std::int64_t channels,
                  const WindowSpec& window) {
  const ValueId y =
      net.conv(path + ".conv", x, {.channels = channels, .window = window, .bias = false});
  return net.batch_norm(path + ".bn", y, {.epsilon = 1e-5, .decay = 0.9, .scale = true});
}

/// Pooling, residual blocks with both kinds of shortcut, and branches that a concat joins.
Graph small_network() {
  Graph graph;
  const ValueId images = graph.add_input("images", {.shape = {kBatch, 3, kSize, kSize}});
  NetworkBuilder net(graph, {.num_classes = kClasses, .training = false});
  const WindowSpec three{.kernel = 3};
  ValueId x = net.relu("relu", conv_norm(net, "stem", images, 32, three));
  x = net.max_pool("pool", x, {.kernel = 3, .stride = 2});
  ValueId y = net.relu("a.relu1", conv_norm(net, "a.1", x, 32, three));
  x = net.relu("a.relu2", net.add("a.add", conv_norm(net, "a.2", y, 32, three), x));
  const ValueId shortcut = conv_norm(net, "b.down", x, 64, {.stride = 2});
  y = net.relu("b.relu1", conv_norm(net, "b.1", x, 48, {.kernel = 3, .stride = 2}));
  x = net.relu("b.relu2", net.add("b.add", conv_norm(net, "b.2", y, 64, three), shortcut));
  const ValueId left = net.relu("c.relu1", conv_norm(net, "c.1", x, 32, {}));
  const ValueId right = net.relu("c.relu2", conv_norm(net, "c.2", x, 16, three));
  x = net.concat("c.join", std::array{left, right});
  graph.set_output("logits", net.head(net.spatial_mean("mean", x)));
  return graph;
}

struct Batch {
  std::vector<float> images;
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(kBatch, 0);
};

Batch draw_batch(std::uint64_t seed) {
  Batch batch;
  RandomStream random(seed, 0);
  for (std::int64_t i = 0; i < kBatch * 3 * kSize * kSize; ++i) {
    batch.images.push_back(static_cast<float>(random.normal()));
  }
  return batch;
}

/// A network's logits on a batch, in f32 and in int8 with the ranges of other batches.
struct Both {
  std::vector<float> real;
  std::vector<float> quantized = {};
  std::size_t layers = 0;
  /// Why a layer stayed in f32, if any did.
  std::string refusal = {};
};

Both run_both(Backend& backend) {
  const SupportQuery supports = [&](const Graph& graph, const Node& node) {
    return backend.supports(graph, node);
  };
  const Graph network = small_network();
  const FoldedGraph folded = fold_batch_norm(network);
  const Graph fused = fuse(folded.graph, supports);
  InitialValues values = fingerprint_values(network);
  fold_values(folded.folds, values);
  Calibration calibration(fused, backend, DataFormat::automatic, values);
  for (const std::uint64_t seed : {1U, 2U}) {
    const Batch batch = draw_batch(seed);
    calibration.observe(batch.images, batch.labels);
  }
  const QuantizedGraph quantized = quantize(fused, calibration.ranges(), supports);
  const Batch batch = draw_batch(3);
  Both both{.real = calibration.logits(batch.images, batch.labels)};
  both.layers = quantized.weights.size();
  both.refusal = quantized.refusals.empty() ? "" : quantized.refusals.front();
  quantize_values(quantized.weights, values);
  Tower tower(quantized.graph, backend, {.poison = true}, values);
  tower.run_canonical(batch.images, batch.labels, -1);
  both.quantized = tower.executor().read_output_as_floats("logits");
  return both;
}

constexpr double kLeastDecibels = 30;

double decibels(const std::vector<float>& logits, const std::vector<float>& right) {
  return compare_logits(logits, right, kClasses).plain.decibels().value_or(0);
}

TEST(Calibration, LearnsNothingFromComputingLogits) {
  const auto backend = make_reference_backend();
  const Graph fused =
      fuse(fold_batch_norm(small_network()).graph,
           [&](const Graph& graph, const Node& node) { return backend->supports(graph, node); });
  InitialValues values = fingerprint_values(small_network());
  fold_values(fold_batch_norm(small_network()).folds, values);
  Calibration calibration(fused, *backend, DataFormat::automatic, values);
  const Batch batch = draw_batch(1);
  calibration.observe(batch.images, batch.labels);
  const Ranges before = calibration.ranges();
  Batch wider = batch;
  std::for_each(wider.images.begin(), wider.images.end(), [](float& pixel) { pixel *= 100; });
  calibration.logits(wider.images, wider.labels);
  EXPECT_EQ(calibration.ranges(), before);
  calibration.observe(wider.images, wider.labels);
  EXPECT_NE(calibration.ranges(), before);
}

TEST(Calibration, CutsOutliersButNotTheImages) {
  constexpr std::int64_t kWide = 64;
  Graph graph;
  const ValueId images = graph.add_input("images", {.shape = {1, 3, kWide, kWide}});
  NetworkBuilder net(graph, {.num_classes = kClasses, .training = false});
  const ValueId x = net.relu("relu", net.conv("same", images, {.channels = 3, .window = {}}));
  const ValueId y = net.conv("last", x, {.channels = 3, .window = {.kernel = 3}});
  graph.set_output("logits", net.head(net.spatial_mean("mean", y)));
  InitialValues values = initial_values(graph, 1);
  values.at("same.weight") = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const auto backend = make_reference_backend();
  Calibration calibration(graph, *backend, DataFormat::automatic, values);
  std::vector<float> pixels(3 * kWide * kWide);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>(i % 256) / 256;
  }
  pixels[99] = 8;
  calibration.observe(pixels, std::vector<std::int32_t>{0});
  const Ranges ranges = calibration.ranges();
  EXPECT_EQ(ranges.at("images").high, 8);
  // The error is (8 - c)^1.5 for the one and (c / 510)^1.5 / 2.5 for each other; the least is at
  // 6.77.
  EXPECT_NEAR(ranges.at("relu").high, 6.77, 0.14);
}

TEST(Calibration, LeavesLittleNoiseOnTheReference) {
  const auto backend = make_reference_backend();
  const Both both = run_both(*backend);
  EXPECT_GT(decibels(both.quantized, both.real), kLeastDecibels);
}

TEST(Calibration, LeavesLittleNoiseOnOnednnWhichAgreesWithTheReference) {
  const auto reference = make_reference_backend();
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  const Both both = run_both(*backend);
  if (both.layers == 0) {
    GTEST_SKIP() << both.refusal;
  }
  EXPECT_GT(decibels(both.quantized, both.real), kLeastDecibels);
  EXPECT_NE(both.quantized, both.real) << "nothing was quantised";
  const Both expected = run_both(*reference);
  EXPECT_GT(decibels(both.quantized, expected.quantized), kLeastDecibels);
}

}  // namespace
}  // namespace bench
