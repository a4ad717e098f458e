#include "bench/verify/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "models/passes/backward.h"
#include "models/zoo/builder.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kUsualEpsilon = 1e-3;
constexpr int kBlocks = 8;

/// Eight convolutions with batch norm; the fifth batch norm has a different epsilon.
template <int kPerMillion>
ValueId build_deep(NetworkBuilder& net, ValueId x) {
  for (int i = 0; i < kBlocks; ++i) {
    x = net.conv(fmt::format("conv{}", i), x,
                 {.channels = 8, .window = {.kernel = 3}, .bias = false});
    const double epsilon = i == 4 ? 1e-6 * kPerMillion : kUsualEpsilon;
    x = net.batch_norm(fmt::format("bn{}", i), x, {.epsilon = epsilon, .scale = true});
    x = net.relu(fmt::format("relu{}", i), x);
  }
  return net.head(net.spatial_mean("mean", x));
}

/// A block whose batch norm is added to the block's input.
ValueId build_branch(NetworkBuilder& net, ValueId x) {
  x = net.conv("stem_conv", x, {.channels = 8, .window = {.kernel = 3}, .bias = false});
  x = net.relu("stem_relu", net.batch_norm("stem", x, {.scale = true}));
  ValueId y = net.conv("branch_conv", x, {.channels = 8, .window = {.kernel = 3}, .bias = false});
  y = net.batch_norm("branch", y, {.scale = true});
  return net.head(net.spatial_mean("mean", net.relu("relu", net.add("add", y, x))));
}

struct Network {
  ValueId (*build)(NetworkBuilder&, ValueId) = build_deep<1000>;
  std::int64_t batch = 2;
  bool training = true;
  bool gradients = true;
};

Graph graph_of(const Network& network) {
  Model model = *find_model("resnet20", "cifar10");
  model.build = network.build;
  const Graph graph = build_network(model, {.batch = network.batch,
                                            .num_classes = 5,
                                            .image_size = 8,
                                            .dtype = DType::f64,
                                            .training = network.training});
  return network.training && network.gradients ? add_backward(graph, "loss") : graph;
}

FingerprintStimulus stimulus_of(const Network& network) {
  Network plain = network;
  plain.gradients = false;
  const Graph graph = graph_of(plain);
  return {.values = fingerprint_values(graph), .probes = fingerprint_probes(graph)};
}

/// The fingerprint with the weights of one layer multiplied by `factor`.
std::vector<FingerprintPart> fingerprint(const Network& network, const std::string& spoiled = "",
                                         float factor = 1) {
  const auto backend = make_reference_backend();
  FingerprintStimulus stimulus = stimulus_of(network);
  if (!spoiled.empty()) {
    for (float& value : stimulus.values.at(spoiled)) {
      value *= factor;
    }
  }
  Tower tower(graph_of(network), *backend, {}, stimulus.values);
  return network.training ? measure_training_fingerprint(tower, stimulus)
                          : measure_inference_fingerprint(tower, stimulus);
}

const FingerprintPart& part(const std::vector<FingerprintPart>& parts, FingerprintKind kind) {
  return *std::find_if(parts.begin(), parts.end(),
                       [&](const FingerprintPart& candidate) { return candidate.kind == kind; });
}

/// The relative difference of the sizes of one kind's first part.
double difference(const std::vector<FingerprintPart>& a, const std::vector<FingerprintPart>& b,
                  FingerprintKind kind) {
  return std::abs(part(a, kind).size / part(b, kind).size - 1);
}

TEST(Fingerprint, HasAPartForEachKindOfVariable) {
  std::vector<std::string> names;
  for (const FingerprintPart& entry : fingerprint({})) {
    names.push_back(name_of(entry));
  }
  EXPECT_THAT(names, ElementsAre("loss", "logits", "weight gradients 1-9", "bias gradients 1-1",
                                 "scale gradients 1-8", "shift gradients 1-8", "means 1-8",
                                 "variances 1-8"));
}

TEST(Fingerprint, IsTheSameForEveryEvenBatch) {
  const auto two = fingerprint({.batch = 2});
  for (const std::int64_t batch : {4, 10}) {
    const auto other = fingerprint({.batch = batch});
    ASSERT_EQ(other.size(), two.size());
    for (std::size_t i = 0; i < two.size(); ++i) {
      // Gradients and statistics are read as floats.
      EXPECT_NEAR(other[i].size / two[i].size, 1, 1e-7) << name_of(two[i]) << " of " << batch;
      EXPECT_NEAR(other[i].direction, two[i].direction, 1e-6) << name_of(two[i]);
    }
  }
}

TEST(Fingerprint, IsTheSameForEveryBatchInInference) {
  const auto two = fingerprint({.batch = 2, .training = false});
  for (const std::int64_t batch : {1, 3, 4}) {
    const auto other = fingerprint({.batch = batch, .training = false});
    ASSERT_EQ(other.size(), 1U);
    EXPECT_NEAR(other[0].size / two[0].size, 1, 1e-7) << batch;
    EXPECT_NEAR(other[0].direction, two[0].direction, 1e-6) << batch;
  }
}

TEST(Fingerprint, IsRefusedForAnOddBatchInTraining) {
  EXPECT_EQ(fingerprint_refusal(2), "");
  EXPECT_THAT(fingerprint_refusal(3), HasSubstr("batch size of 3 is odd"));
  EXPECT_THROW(fingerprint({.batch = 3}), InternalError);
}

// Batch norm cancels the factor. So the loss stays, and only the gradient of these weights becomes
// smaller by it.
TEST(Fingerprint, SeesTheWeightsOfOneLayerDeepInsideInTheirGradients) {
  const auto right = fingerprint({});
  const auto wrong = fingerprint({}, "conv4.weight", 1.01F);
  constexpr int kWeights = kBlocks + 1;
  EXPECT_NEAR(difference(wrong, right, FingerprintKind::weight_gradients), 0.01 / kWeights, 3e-4);
  EXPECT_LT(difference(wrong, right, FingerprintKind::loss), 1e-5);
}

TEST(Fingerprint, SeesAnotherEpsilonOfOneLayerDeepInside) {
  const auto right = fingerprint({.build = build_deep<1000>});
  const auto wrong = fingerprint({.build = build_deep<10000>});
  EXPECT_GT(difference(wrong, right, FingerprintKind::weight_gradients), 2e-4);
}

/// A convolution with a bias that batch norm cancels, and one with a bias that matters.
ValueId build_biased(NetworkBuilder& net, ValueId x) {
  x = net.conv("idle", x, {.channels = 8, .window = {.kernel = 3}});
  x = net.relu("relu", net.batch_norm("norm", x, {.scale = true}));
  x = net.conv("kept", x, {.channels = 8, .window = {.kernel = 3}});
  return net.head(net.spatial_mean("mean", x));
}

TEST(FingerprintValues, OmitBiasesThatBatchNormCancels) {
  std::vector<std::string> biases;
  for (const auto& probe : stimulus_of({.build = build_biased}).probes) {
    if (probe.kind == FingerprintKind::bias_gradients) {
      biases.push_back(probe.variable);
    }
  }
  EXPECT_THAT(biases, ElementsAre("kept.bias", "fc.bias"));
}

TEST(FingerprintValues, KeepAddedBatchNormsSmallAndMoveTheOthers) {
  Network network{.build = build_branch, .gradients = false};
  const InitialValues values = fingerprint_values(graph_of(network));
  const auto mean = [&](const std::string& name) {
    const std::vector<float>& all = values.at(name);
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  };
  EXPECT_NEAR(mean("stem.bias"), 3, 0.2);
  EXPECT_NEAR(mean("stem.weight"), 1, 0.2);
  EXPECT_NEAR(mean("branch.bias"), 0.1, 0.1);
  EXPECT_NEAR(mean("branch.weight"), 0.2, 0.05);
}

}  // namespace
}  // namespace bench
