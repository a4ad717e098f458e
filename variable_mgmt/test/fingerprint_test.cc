#include "variable_mgmt/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "models/passes/backward.h"
#include "models/zoo/builder.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

constexpr double kUsualEpsilon = 1e-3;
constexpr int kBlocks = 8;

/// Eight convolutions with batch norm; that of the fifth has an epsilon of its own.
template <int kPerMillion>
ValueId build_deep(NetworkBuilder& net, ValueId x) {
  for (int i = 0; i < kBlocks; ++i) {
    x = net.conv(cat("conv", i), x, {.channels = 8, .window = {.kernel = 3}, .bias = false});
    const double epsilon = i == 4 ? 1e-6 * kPerMillion : kUsualEpsilon;
    x = net.batch_norm(cat("bn", i), x, {.epsilon = epsilon, .scale = true});
    x = net.relu(cat("relu", i), x);
  }
  return net.head(net.spatial_mean("mean", x));
}

struct Network {
  ValueId (*build)(NetworkBuilder&, ValueId) = build_deep<1000>;
  std::int64_t batch = 2;
  bool training = true;
};

Graph graph_of(const Network& network) {
  Model model = *find_model("resnet20", "cifar10");
  model.build = network.build;
  const Graph graph = build_network(model, {.batch = network.batch,
                                            .num_classes = 5,
                                            .image_size = 8,
                                            .dtype = DType::f64,
                                            .training = network.training});
  return network.training ? add_backward(graph, "loss") : graph;
}

/// With the weights of one layer multiplied.
Fingerprint fingerprint(const Network& network, const std::string& spoiled = "", float factor = 1) {
  const auto backend = make_reference_backend();
  const Graph graph = graph_of(network);
  InitialValues values = fingerprint_values(graph);
  if (!spoiled.empty()) {
    for (float& value : values.at(spoiled)) {
      value *= factor;
    }
  }
  Tower tower(graph, *backend, {}, values);
  return network.training ? measure_training_fingerprint(tower, values)
                          : measure_inference_fingerprint(tower, values);
}

double difference(double a, double b) { return std::abs(a - b) / b; }

TEST(Fingerprint, IsTheSameForEveryEvenBatch) {
  const Fingerprint two = fingerprint({.batch = 2});
  for (const std::int64_t batch : {4, 10}) {
    const Fingerprint other = fingerprint({.batch = batch});
    EXPECT_LT(difference(other.loss, two.loss), 1e-13);
    // Gradients are read as floats.
    EXPECT_LT(difference(other.gradient_norm, two.gradient_norm), 1e-8);
    EXPECT_LT(difference(other.first_gradient_norm, two.first_gradient_norm), 1e-8);
    EXPECT_LT(difference(other.mean_weight_gradient, two.mean_weight_gradient), 1e-8);
  }
}

TEST(Fingerprint, OfInferenceIsTheSameForEveryBatch) {
  const Fingerprint two = fingerprint({.batch = 2, .training = false});
  for (const std::int64_t batch : {1, 3, 4}) {
    const Fingerprint other = fingerprint({.batch = batch, .training = false});
    EXPECT_LT(difference(other.logits_norm, two.logits_norm), 1e-8) << batch;
  }
}

TEST(Fingerprint, OfTrainingIsRefusedForAnOddBatch) {
  EXPECT_EQ(fingerprint_refusal(2), "");
  EXPECT_THAT(fingerprint_refusal(3), HasSubstr("batch size of 3 is odd"));
  EXPECT_THROW(fingerprint({.batch = 3}), InternalError);
}

// Batch norm takes the factor out again, so that the loss stays and the gradient of these weights
// alone becomes smaller by it.
TEST(Fingerprint, SeesTheWeightsOfOneLayerDeepInsideInTheMeanGradientAlone) {
  const Fingerprint right = fingerprint({});
  const Fingerprint wrong = fingerprint({}, "conv4.weight", 1.01F);
  constexpr int kWeights = kBlocks + 1;
  EXPECT_NEAR(difference(wrong.mean_weight_gradient, right.mean_weight_gradient), 0.01 / kWeights,
              3e-4);
  EXPECT_LT(difference(wrong.loss, right.loss), 1e-5);
  EXPECT_LT(difference(wrong.gradient_norm, right.gradient_norm), 1e-4);
}

TEST(Fingerprint, SeesAnotherEpsilonOfOneLayerDeepInside) {
  const Fingerprint right = fingerprint({.build = build_deep<1000>});
  const Fingerprint wrong = fingerprint({.build = build_deep<10000>});
  EXPECT_GT(difference(wrong.mean_weight_gradient, right.mean_weight_gradient), 2e-4);
}

}  // namespace
}  // namespace bench
