#include "bench/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "bench/test/spoiled_backend.h"
#include "bench/test/usage_error.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/zoo/builder.h"
#include "variable_mgmt/fingerprint.h"
#include "variable_mgmt/fold_values.h"

namespace bench {
namespace {

using testing::HasSubstr;

/// LeNet with average pooling instead of maximum pooling in one place.
ValueId build_other_lenet(NetworkBuilder& net, ValueId images) {
  const WindowSpec filter{.kernel = 5};
  const WindowSpec pool{.kernel = 2, .stride = 2, .padding = Padding::valid};
  ValueId x = net.relu("relu0", net.conv("conv0", images, {.channels = 32, .window = filter}));
  x = net.max_pool("pool0", x, pool);
  x = net.relu("relu1", net.conv("conv1", x, {.channels = 64, .window = filter}));
  x = net.flatten("flatten", net.avg_pool("pool1", x, pool));
  x = net.fully_connected("fc0", x, {.outputs = 512, .initial = cut_normal(2)});
  return net.head(net.relu("relu2", x));
}

RunSettings lenet(std::int64_t batch, bool training) {
  ParseResult parsed;
  parsed.flags.model = "lenet";
  parsed.flags.batch_size = cat(batch);
  parsed.flags.forward_only = !training;
  return resolve_settings(parsed);
}

Verification verify(const RunSettings& settings, Backend& backend) {
  const Graph graph = build_run_graph(settings, backend, settings.batch);
  Tower tower(graph, backend, {.format = settings.format}, initial_values(graph, 1));
  return verify_tower(settings, tower);
}

TEST(Verification, PassesWhateverTheBatchTheLayoutAndTheFirstValues) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  for (const std::int64_t batch : {1, 2, 3, 4}) {
    for (const DataFormat format : {DataFormat::nchw, DataFormat::nhwc, DataFormat::automatic}) {
      for (const bool training : {true, false}) {
        if (training && batch % 2 != 0) {
          continue;
        }
        RunSettings settings = lenet(batch, training);
        settings.format = format;
        const Verification result = verify(settings, *backend);
        EXPECT_TRUE(result.skipped.empty()) << result.skipped;
        EXPECT_EQ(result.numbers.size(), training ? 4U : 1U);
        EXPECT_TRUE(result.passed()) << result.failures();
      }
    }
  }
}

TEST(Verification, PassesWithBatchNormFoldedIntoTheConvolutions) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  ParseResult parsed;
  parsed.flags.model = "resnet20";
  parsed.flags.data_name = "cifar10";
  parsed.flags.batch_size = "2";
  parsed.flags.forward_only = true;
  parsed.flags.freeze_when_forward_only = true;
  const RunSettings settings = resolve_settings(parsed);
  EXPECT_EQ(run_folds(settings).size(), 19);
  const Graph graph = build_run_graph(settings, *backend, settings.batch);
  InitialValues values = initial_values(build_run_network(settings, 1), 1);
  fold_values(run_folds(settings), values);
  Tower tower(graph, *backend, {}, values);
  const Verification result = verify_tower(settings, tower);
  EXPECT_EQ(result.numbers.size(), 1);
  EXPECT_TRUE(result.passed()) << result.failures();
}

TEST(Verification, HasThePrecisionOfF64OnTheReference) {
  const auto backend = make_reference_backend();
  RunSettings settings = lenet(2, true);
  settings.dtype = DType::f64;
  const Verification result = verify(settings, *backend);
  EXPECT_TRUE(result.passed()) << result.failures();
  EXPECT_LT(result.numbers[0].tolerance, 1e-8);
}

TEST(Verification, SaysWhyAnotherLossIsNotChecked) {
  const auto backend = make_reference_backend();
  RunSettings settings = lenet(2, true);
  settings.flags.label_smoothing = 0.1;
  EXPECT_THAT(verify(settings, *backend).skipped, HasSubstr("labels are smoothed"));
}

TEST(Verification, DoesNotCheckATrainingStepOfAnOddBatchAndSaysSo) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  const Verification result = verify(lenet(3, true), *backend);
  EXPECT_THAT(result.skipped, HasSubstr("batch size of 3 is odd"));
  EXPECT_TRUE(result.numbers.empty());
}

TEST(Verification, CatchesAWeightGradientThatIsOffByOnePerCentInOneLayerDeepInside) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  SpoiledBackend spoiled(*backend, "layer2.1.conv2/backward_weights", 1.01F);
  ParseResult parsed;
  parsed.flags.model = "resnet20";
  parsed.flags.data_name = "cifar10";
  parsed.flags.batch_size = "2";
  const Verification result = verify(resolve_settings(parsed), spoiled);
  ASSERT_EQ(result.numbers.size(), 4U);
  EXPECT_EQ(result.numbers[3].name, "mean weight gradient");
  EXPECT_FALSE(result.numbers[3].passed());
  constexpr double kWeights = 20;
  EXPECT_NEAR(result.numbers[3].deviation, std::log(1.01) / kWeights, 1e-6);
  for (const std::size_t other : {0U, 1U, 2U}) {
    EXPECT_TRUE(result.numbers[other].passed()) << result.failures();
  }
}

TEST(Verification, CatchesANetworkThatComputesSomethingElse) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  for (const bool training : {true, false}) {
    RunSettings settings = lenet(2, training);
    Model other = *settings.model;
    other.build = build_other_lenet;
    settings.model = &other;
    const Verification result = verify(settings, *backend);
    EXPECT_FALSE(result.passed());
    EXPECT_THAT(result.failures(), HasSubstr("relative deviation"));
  }
}

TEST(Verification, TellsNetworksOfOneShapeButAnotherDepthApart) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  ParseResult parsed;
  parsed.flags.model = "resnet20";
  parsed.flags.data_name = "cifar10";
  parsed.flags.batch_size = "2";
  RunSettings settings = resolve_settings(parsed);
  EXPECT_TRUE(verify(settings, *backend).passed());
  Model other = *settings.model;
  other.build = find_model("resnet32", "cifar10")->build;
  settings.model = &other;
  const Verification result = verify(settings, *backend);
  ASSERT_EQ(result.numbers.size(), 4U);
  EXPECT_FALSE(result.numbers[2].passed()) << "the first layer's gradient comes through all layers";
}

TEST(Verification, IsRefusedForAnotherNetworkThanTheModelsOwn) {
  ParseResult parsed;
  parsed.flags.model = "lenet";
  parsed.flags.verify = "model";
  parsed.flags.num_classes = 10;
  std::ostringstream out;
  EXPECT_THAT(usage_error([&] { run_verification(parsed, out); }), HasSubstr("10 classes"));
}

TEST(Verification, IsRefusedForTrainingOnAnOddBatchButNotForInference) {
  ParseResult parsed;
  parsed.flags.model = "lenet";
  parsed.flags.device = "reference";
  parsed.flags.verify = "model";
  parsed.flags.batch_size = "1";
  std::ostringstream out;
  EXPECT_THAT(usage_error([&] { run_verification(parsed, out); }), HasSubstr("1 is odd"));
  parsed.flags.forward_only = true;
  EXPECT_EQ(run_verification(parsed, out), 0);
}

TEST(Verification, IsSkippedWhereTheNetworkIsNotTheModelsOwn) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  RunSettings settings = lenet(2, true);
  settings.num_classes = 11;
  const Verification result = verify(settings, *backend);
  EXPECT_THAT(result.skipped, HasSubstr("11 classes"));
  EXPECT_TRUE(result.numbers.empty());
}

TEST(Verification, PrintsALineForTheModelAskedFor) {
  ParseResult parsed;
  parsed.flags.model = "lenet";
  parsed.flags.device = "reference";
  parsed.flags.verify = "model";
  std::ostringstream out;
  EXPECT_EQ(run_verification(parsed, out), 0);
  EXPECT_THAT(out.str(), HasSubstr("lenet"));
  EXPECT_THAT(out.str(), HasSubstr("ok\n"));
}

TEST(Verification, FailsForANumberThatIsNotFinite) {
  const Verification result{.numbers = {{.name = "loss", .deviation = std::nan("")}}};
  EXPECT_FALSE(result.passed());
}

TEST(StoredFingerprints, AreThereForEveryModel) {
  for (const Model& model : all_models()) {
    const Fingerprint* stored = stored_fingerprint(model);
    ASSERT_NE(stored, nullptr) << model.name;
    EXPECT_GT(stored->loss, 0) << model.name;
    EXPECT_GT(stored->gradient_norm, 0) << model.name;
    EXPECT_GT(stored->first_gradient_norm, 0) << model.name;
    EXPECT_GT(stored->mean_weight_gradient, 0) << model.name;
    EXPECT_GT(stored->logits_norm, 0) << model.name;
  }
}

}  // namespace
}  // namespace bench
