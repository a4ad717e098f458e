#include "bench/plan/tensor_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/input.h"
#include "bench/plan/network.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/test/scratch_folder.h"
#include "models/zoo/builder.h"

namespace bench {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kImageSize = 2;

ValueId build_tiny(NetworkBuilder& net, ValueId images) {
  ValueId x = net.conv("conv", images, {.channels = 2, .window = {.kernel = 1}});
  x = net.batch_norm("bn", x, {.scale = true});
  return net.head(net.spatial_mean("mean", x));
}

constexpr Model kTiny{.name = "tiny",
                      .printed_name = "tiny",
                      .dataset = "imagenet",
                      .image_size = kImageSize,
                      .default_batch = 2,
                      .rate = ModelRate::constant,
                      .build = build_tiny};

/// A run of the tiny network on the reference backend, with files in a folder of its own.
struct TinyRun {
  ScratchFolder folder = {};
  RunSettings settings = {};
  std::unique_ptr<Backend> backend = make_reference_backend();

  TinyRun() {
    settings.model = &kTiny;
    settings.dataset = &dataset_named("imagenet");
    settings.device = RunDevice::reference;
    settings.batch = 2;
    settings.image_size = kImageSize;
    settings.num_classes = 4;
    settings.optimizer.weight_decay = 0.25;
  }

  [[nodiscard]] std::string path(const char* name) const { return folder.path() / name; }
  [[nodiscard]] Graph network() const { return build_run_network(settings, settings.batch); }
  [[nodiscard]] RunTensorFiles files() const { return {settings, network()}; }
  [[nodiscard]] std::unique_ptr<Tower> tower(const InitialValues& values) const {
    return std::make_unique<Tower>(build_run_graph(settings, *backend, settings.batch), *backend,
                                   ExecutorOptions{}, values);
  }
  /// Zeros, but for the last layer's weights.
  [[nodiscard]] InitialValues values() const {
    InitialValues values = initial_values(network(), 1);
    for (auto& [name, elements] : values) {
      elements.assign(elements.size(), name == "fc.weight" ? 0.5F : 0.0F);
    }
    return values;
  }
};

const std::array<float, 24> kImages = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
const std::array<std::int32_t, 2> kLabels = {0, 3};
const InputBatch kBatch = {.images = kImages.data(), .labels = kLabels.data()};

std::vector<float> floats(const TensorFile& file, const std::string& name) {
  const StoredTensor* tensor = file.find(name);
  if (tensor == nullptr) {
    ADD_FAILURE() << "no " << name;
    return {};
  }
  std::vector<float> values(tensor->elements());
  file.read(*tensor, 0, values);
  return values;
}

std::vector<std::string> names(const TensorFile& file) {
  std::vector<std::string> result;
  for (const auto& [name, tensor] : file.tensors()) {
    result.push_back(name);
  }
  return result;
}

TEST(TensorDump, WritesNothingWhenTheWatchEndsIt) {
  TinyRun run;
  run.settings.files.dump_tensors = run.path("dump");
  const auto tower = run.tower(run.values());
  EXPECT_THROW(run.files().dump(*tower, kBatch, [](auto, auto) { throw DataError("enough"); }),
               DataError);
  EXPECT_TRUE(std::filesystem::is_empty(run.folder.path()));
}

TEST(TensorDump, HoldsTheFirstStepsLogitsLossesAndGradients) {
  TinyRun run;
  run.settings.files.dump_tensors = run.path("dump");
  const RunTensorFiles files = run.files();
  ASSERT_TRUE(files.dumps());
  const auto tower = run.tower(run.values());
  files.dump(*tower, kBatch);

  const TensorFile dump(run.path("dump"));
  EXPECT_THAT(names(dump), UnorderedElementsAre("logits", "loss", "total_loss", "grad/conv.weight",
                                                "grad/conv.bias", "grad/bn.weight", "grad/bn.bias",
                                                "grad/fc.weight", "grad/fc.bias"));
  EXPECT_THAT(dump.find("logits")->shape, ElementsAre(2, 4));
  EXPECT_THAT(floats(dump, "logits"), Each(0));
  EXPECT_NEAR(floats(dump, "loss").at(0), std::log(4), 1e-6);
  // Half the sum of eight weights' squares is 1; the coefficient is 0.25.
  EXPECT_NEAR(floats(dump, "total_loss").at(0), std::log(4) + 0.25, 1e-6);
  EXPECT_THAT(dump.find("grad/conv.weight")->shape, ElementsAre(2, 3, 1, 1));
  // Softmax minus the target, over a batch of two; of the loss without the L2 term.
  EXPECT_THAT(floats(dump, "grad/fc.bias"), ElementsAre(-0.25F, 0.25F, 0.25F, -0.25F));
  EXPECT_THAT(floats(dump, "grad/fc.weight"), Each(0));
  EXPECT_EQ(dump.metadata().at("model"), "tiny");
  EXPECT_THAT(tower->executor().read_variable("fc.bias"), Each(0));
}

TEST(TensorDump, HoldsTheLogitsAloneWhenTheRunIsForwardOnly) {
  TinyRun run;
  run.settings.mode = RunMode::forward_only;
  run.settings.files.dump_tensors = run.path("dump");
  InitialValues values = run.values();
  values.at("fc.bias") = {1, 2, 3, 4};
  run.files().dump(*run.tower(values), kBatch);
  const TensorFile dump(run.path("dump"));
  EXPECT_THAT(names(dump), ElementsAre("logits"));
  EXPECT_THAT(floats(dump, "logits"), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
}

TEST(SavedVariables, AreLoadedByTheNextRun) {
  TinyRun run;
  run.settings.files.save_variables = run.path("saved");
  InitialValues values = run.values();
  values.at("bn.running_var") = {3, 0.1F};
  run.files().save(run.tower(values)->executor(), 17);
  EXPECT_EQ(TensorFile(run.path("saved")).metadata().at("global_step"), "17");

  TinyRun next;
  next.settings.files.init_from = run.path("saved");
  const RunTensorFiles files = next.files();
  InitialValues drawn = initial_values(next.network(), 5);
  files.load(drawn);
  EXPECT_EQ(drawn, values);
  EXPECT_THAT(files.notices(), ElementsAre(HasSubstr("8 of 8 variables begin with the values of")));
}

TEST(SavedVariables, OfAHeadOfAnotherSizeAreNamedAndLeftOut) {
  TinyRun run;
  run.settings.files.save_variables = run.path("saved");
  run.files().save(run.tower(run.values())->executor(), 0);

  TinyRun next;
  next.settings.num_classes = 5;
  next.settings.files.init_from = run.path("saved");
  EXPECT_THAT(usage_error([&] { static_cast<void>(next.files()); }),
              HasSubstr("fc.weight is 4x2, not 5x2"));
  next.settings.files.init_from_partial = true;
  EXPECT_THAT(next.files().notices(),
              ElementsAre(HasSubstr("6 of 8 variables begin with the values of"),
                          "--init_from_partial: not taken, for another shape or type: fc.weight is "
                          "4x2, not 5x2, fc.bias is 4, not 5"));
}

TEST(RunTensorFiles, RefuseBeforeTheRunWhatCannotBeReadOrWritten) {
  const auto refusal = [](const std::function<void(TinyRun&)>& change) {
    TinyRun run;
    change(run);
    return usage_error([&] { static_cast<void>(run.files()); });
  };
  EXPECT_THAT(refusal([](TinyRun& run) { run.settings.files.init_from = run.path("absent"); }),
              HasSubstr("No such file"));
  EXPECT_THAT(refusal([](TinyRun& run) { run.settings.input.file = run.path("absent"); }),
              HasSubstr("No such file"));
  EXPECT_THAT(refusal([](TinyRun& run) { run.settings.files.save_variables = run.path("no/s"); }),
              HasSubstr("cannot write the file of --save_variables"));
  EXPECT_THAT(refusal([](TinyRun& run) { run.settings.files.dump_tensors = run.path("no/d"); }),
              HasSubstr("cannot write the file of --dump_tensors"));
  EXPECT_EQ(refusal([](TinyRun&) {}), "no UsageError");
}

TEST(RunTensorFiles, HoldTheInputAgainstTheRun) {
  TinyRun run;
  const std::vector<float> images(2 * 3 * 2 * 2, 1);
  const std::vector<std::int64_t> labels = {1, 3};
  const std::vector<TensorToWrite> tensors = {
      {"images", StoredType::f32, {2, 3, 2, 2}, std::as_bytes(std::span(images))},
      {"labels", StoredType::i64, {2}, std::as_bytes(std::span(labels))}};
  write_tensor_file(AtomicFile(run.path("in")), tensors, {});
  run.settings.input.file = run.path("in");
  EXPECT_NO_THROW(run.files());
  const auto input = make_run_input(run.settings, Layout("nhwc"));
  EXPECT_EQ(input->next().labels[1], 3);
  run.settings.num_classes = 3;
  EXPECT_THROW(run.files(), DataError);
  run.settings.num_classes = 4;
  run.settings.batch = 4;
  EXPECT_THROW(run.files(), DataError);
}

TEST(LayerStep, IsNegativeWithDeterministicLayersOnly) {
  TinyRun run;
  EXPECT_EQ(layer_step(run.settings, 7), 7);
  run.settings.deterministic_layers = true;
  EXPECT_EQ(layer_step(run.settings, 7), -1);
}

}  // namespace
}  // namespace bench
