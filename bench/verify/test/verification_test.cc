#include "bench/verify/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bench/loop/session.h"
#include "bench/loop/test/lone_tower.h"
#include "bench/loop/test/several_towers.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "bench/plan/verified_run.h"
#include "bench/verify/fingerprint.h"
#include "bench/verify/test/planted_faults.h"
#include "kernels/forwarding_backend.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/zoo/builder.h"
#include "variable_mgmt/fold_values.h"

namespace bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

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
  parsed.batch = read_batch_request(fmt::format("{}", batch));
  parsed.flags.forward_only = !training;
  return resolve_settings(parsed);
}

VerifiedRun verified(const RunSettings& settings, Towers& towers) {
  return verified_run(settings, towers, [&settings, &towers](std::int64_t images) {
    return build_run_graph(settings, towers.first().backend(), images);
  });
}

Verification verify(const RunSettings& settings, Backend& backend) {
  const Graph graph = build_run_graph(settings, backend, settings.workload.batch);
  LoneTower lone(settings, graph, backend, {.format = settings.execution.format},
                 initial_values(graph, 1));
  return verify_run(verified(settings, lone.towers()));
}

RunSettings resnet20() {
  ParseResult parsed;
  parsed.flags.model = "resnet20";
  parsed.flags.data_name = "cifar10";
  parsed.batch = read_batch_request("2");
  return resolve_settings(parsed);
}

std::vector<std::string> failed(const Verification& result) {
  std::vector<std::string> names;
  for (const results::VerifiedNumber& number : result.numbers) {
    if (!number.passed()) {
      names.push_back(number.name);
    }
  }
  return names;
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
        settings.execution.format = format;
        const Verification result = verify(settings, *backend);
        EXPECT_TRUE(result.skipped.empty()) << result.skipped;
        EXPECT_GT(result.numbers.size(), training ? 30U : 8U);
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
  parsed.batch = read_batch_request("2");
  parsed.flags.forward_only = true;
  parsed.flags.freeze_when_forward_only = true;
  const RunSettings settings = resolve_settings(parsed);
  EXPECT_EQ(run_folds(settings.workload).size(), 19);
  const Graph graph = build_run_graph(settings, *backend, settings.workload.batch);
  InitialValues values = initial_values(build_run_network(settings.workload, 1), 1);
  fold_values(run_folds(settings.workload), values);
  LoneTower lone(settings, graph, *backend, {}, values);
  const Verification result = verify_run(verified(settings, lone.towers()));
  EXPECT_TRUE(result.passed()) << result.failures();
}

TEST(Verification, HasThePrecisionOfF64OnTheReference) {
  const auto backend = make_reference_backend();
  RunSettings settings = lenet(2, true);
  settings.workload.dtype = DType::f64;
  settings.workload.optimizer.dtype = DType::f64;
  const Verification result = verify(settings, *backend);
  EXPECT_TRUE(result.passed()) << result.failures();
  for (const results::VerifiedNumber& number : result.numbers) {
    EXPECT_LE(number.tolerance, 1e-5) << number.name;
  }
}

TEST(Verification, SaysWhyAnotherLossHasNoFingerprintAndChecksTheKernels) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  RunSettings settings = lenet(2, true);
  settings.workload.label_smoothing = 0.1;
  const Verification result = verify(settings, *backend);
  EXPECT_THAT(result.skipped, HasSubstr("labels are smoothed"));
  EXPECT_GT(result.numbers.size(), 20U);
  EXPECT_TRUE(result.passed()) << result.failures();
}

TEST(Verification, IgnoresTheLossInInference) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  RunSettings settings = lenet(2, false);
  settings.workload.label_smoothing = 0.1;
  EXPECT_EQ(verify(settings, *backend).skipped, "");
}

TEST(Verification, ChecksTheKernelsOfAnOddBatchToo) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  const Verification result = verify(lenet(3, true), *backend);
  EXPECT_THAT(result.skipped, HasSubstr("batch size of 3 is odd"));
  EXPECT_GT(result.numbers.size(), 20U);
  EXPECT_TRUE(result.passed()) << result.failures();
  const PlantedFault fault = spoiled_node("conv1/backward_weights", 1.01F);
  PlantedBackend spoiled(*backend, fault);
  EXPECT_FALSE(verify(lenet(3, true), spoiled).passed());
}

TEST(Verification, CatchesOneWrongWeightGradient) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  const PlantedFault fault = spoiled_node("layer2.2.conv2/backward_weights", 1.1F);
  PlantedBackend spoiled(*backend, fault);
  EXPECT_THAT(failed(verify(resnet20(), spoiled)),
              UnorderedElementsAre("weight gradients 1-16",
                                   "conv2d_backward_weights layer2.2.conv2/backward_weights"));
}

TEST(Verification, CatchesOneWrongWeightGradientByTheFingerprint) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  const PlantedFault fault = spoiled_node("layer2.0.conv2/backward_weights", -1);
  PlantedBackend spoiled(*backend, fault);
  EXPECT_THAT(failed(verify(resnet20(), spoiled)),
              ElementsAre("direction of weight gradients 1-16"));
}

TEST(Verification, PassesForwardOnlyOnAnOddBatchOfAFewClasses) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  RunSettings settings = resnet20();
  settings.workload.mode = RunMode::forward_only;
  settings.workload.batch = 3;
  const Verification result = verify(settings, *backend);
  EXPECT_TRUE(result.skipped.empty());
  EXPECT_TRUE(result.passed()) << result.failures();
}

TEST(Verification, PassesWhereTheBatchIsAsLargeAsAFiltersChannels) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  RunSettings settings = resnet20();
  settings.workload.batch = 16;
  const Verification result = verify(settings, *backend);
  EXPECT_TRUE(result.passed()) << result.failures();
}

TEST(Verification, PassesInF16WhoseSmallestGradientsAreFew) {
  const auto backend = make_reference_backend();
  RunSettings settings = resnet20();
  settings.workload.dtype = DType::f16;
  const Verification result = verify(settings, *backend);
  EXPECT_TRUE(result.passed()) << result.failures();
}

TEST(Verification, CatchesAnotherOptimizer) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  RunSettings settings = lenet(2, true);
  const Graph graph = build_run_graph(settings, *backend, settings.workload.batch);
  LoneTower lone(settings, graph, *backend, {.format = settings.execution.format},
                 initial_values(graph, 1));
  settings.workload.optimizer.rule = MomentumRule{};
  EXPECT_THAT(failed(verify_run(verified(settings, lone.towers()))), ElementsAre("update"));
}

TEST(Verification, CatchesAnotherNetwork) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  for (const bool training : {true, false}) {
    RunSettings settings = lenet(2, training);
    Model other = *settings.workload.model;
    other.build = build_other_lenet;
    settings.workload.model = &other;
    const Verification result = verify(settings, *backend);
    EXPECT_FALSE(result.passed());
    EXPECT_THAT(result.failures(), HasSubstr("definition"));
    EXPECT_THAT(result.failures(), HasSubstr("logits"));
  }
}

TEST(Verification, DistinguishesNetworksOfDifferentDepth) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  RunSettings settings = resnet20();
  EXPECT_TRUE(verify(settings, *backend).passed());
  Model other = *settings.workload.model;
  other.build = find_model("resnet32", "cifar10")->build;
  settings.workload.model = &other;
  EXPECT_THAT(failed(verify(settings, *backend)), IsSupersetOf({"definition", "loss", "logits"}));
}

TEST(Verification, NamesPartsThatAreStoredAndWereNotMeasured) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  RunSettings settings = resnet20();
  Model shallower = *find_model("resnet32", "cifar10");
  shallower.build = settings.workload.model->build;
  settings.workload.model = &shallower;
  const auto names = failed(verify(settings, *backend));
  for (const char* part : {"weight gradients 17-32", "direction of weight gradients 17-32",
                           "shift gradients 17-31", "means 17-31"}) {
    EXPECT_THAT(names, Contains(part));
  }
  EXPECT_THAT(names, Not(Contains("inference logits")));
}

/// Normalizes pixels with a wrong mean.
class OffByOneGrey final : public ForwardingBackend {
 public:
  explicit OffByOneGrey(Backend& inner) : ForwardingBackend(inner) {}
  std::unique_ptr<Kernel> make_normalization(const Normalization& range,
                                             const Placed& images) override {
    return ForwardingBackend::make_normalization(
        {.mean = range.mean + 1, .deviation = range.deviation}, images);
  }
};

/// Leaves a NaN at one position in the middle of the images.
class HoledNormalization final : public ForwardingBackend {
 public:
  explicit HoledNormalization(Backend& inner) : ForwardingBackend(inner) {}
  std::unique_ptr<Kernel> make_normalization(const Normalization& range,
                                             const Placed& images) override {
    return std::make_unique<Holed>(ForwardingBackend::make_normalization(range, images));
  }

 private:
  class Holed final : public Kernel {
   public:
    explicit Holed(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}
    void launch(Stream& stream, std::span<const TensorView> inputs,
                std::span<const TensorView> outputs, void* workspace) override {
      inner_->launch(stream, inputs, outputs, workspace);
      const std::size_t elements = outputs[0].bytes / sizeof(float);
      outputs[0].as<float>()[elements / 2] = std::numeric_limits<float>::quiet_NaN();
    }

   private:
    std::unique_ptr<Kernel> inner_;
  };
};

TEST(Verification, ChecksTheDevicesNormalizationOfPixels) {
  RunSettings settings = lenet(2, /*training=*/false);
  const auto backend = make_reference_backend();
  const std::size_t numbers = verify(settings, *backend).numbers.size();
  settings.execution.slots = SlotType::u8;
  const Verification right = verify(settings, *backend);
  EXPECT_TRUE(right.passed()) << right.failures();
  EXPECT_EQ(right.numbers.size(), numbers + 1);
  OffByOneGrey wrong(*backend);
  EXPECT_THAT(failed(verify(settings, wrong)), ElementsAre("pixels"));
  HoledNormalization holed(*backend);
  EXPECT_THAT(failed(verify(settings, holed)), ElementsAre("pixels"));
}

TEST(Verification, IsSkippedForAModifiedNetwork) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  RunSettings settings = lenet(2, true);
  settings.workload.num_classes = 11;
  const Verification result = verify(settings, *backend);
  EXPECT_THAT(result.skipped, HasSubstr("11 classes"));
  EXPECT_TRUE(result.passed()) << result.failures();
}

TEST(Verification, ComparesEveryTowerWithTheFingerprint) {
  for (const bool training : {true, false}) {
    RunSettings settings = lenet(2, training);
    settings.workload.towers = 3;
    const auto healthy = make_reference_backend();
    const PlantedFault fault = spoiled_node("conv1", 1.1F);
    const InitialValues values = initial_values(build_run_network(settings.workload, 1), 1);
    for (const int faulty : {-1, 2}) {
      SeveralTowers towers(
          settings,
          [&](int tower) -> std::unique_ptr<Backend> {
            return tower == faulty ? std::make_unique<PlantedBackend>(*healthy, fault)
                                   : make_reference_backend();
          },
          values);
      const Verification result = verify_run(verified(settings, *towers));
      EXPECT_EQ(result.skipped, "");
      EXPECT_EQ(result.passed(), faulty < 0) << result.failures();
      for (const std::string& name : failed(result)) {
        EXPECT_THAT(name, HasSubstr("tower 2: "));
      }
      if (training && faulty < 0) {
        // Otherwise a sum that counts one tower twice and omits another would be right.
        const auto of = [&](int tower) {
          return (*towers)[tower].executor().read_gradient("fc.bias").front();
        };
        EXPECT_EQ(of(1), 2 * of(2));
        EXPECT_NE(of(0), of(1));
      }
    }
  }
}

TEST(Verification, FailsForANumberThatIsNotFinite) {
  const Verification result{.numbers = {{.name = "loss", .deviation = std::nan("")}}};
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.nearest()->share(), INFINITY);
}

TEST(StoredFingerprints, AreThereForEveryModelWithItsDefinition) {
  for (const Model& model : all_models()) {
    const StoredFingerprint stored = stored_fingerprint(model);
    ASSERT_GE(stored.parts.size(), 5U) << model.name;
    EXPECT_EQ(stored.definition, network_definition(model)) << model.name;
    for (const FingerprintPart& part : stored.parts) {
      EXPECT_GT(part.size, 0) << model.name << " " << name_of(part);
    }
  }
}

}  // namespace
}  // namespace bench
