#include "bench/quantize/quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "bench/plan/network.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/tensor_file.h"
#include "models/base/test/scratch_folder.h"
#include "models/zoo/builder.h"

namespace bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kImageSize = 2;
constexpr std::size_t kPixels = kImageSize * kImageSize;
constexpr std::int64_t kBatch = 2;

/// Each logit is the mean of an image plane, with the weights of brightest_plane().
ValueId build_tiny(NetworkBuilder& net, ValueId images) {
  const ValueId x = net.conv("conv", images, {.channels = 3, .window = {.kernel = 1}});
  return net.head(net.spatial_mean("mean", x));
}

constexpr Model kTiny{.name = "tiny",
                      .printed_name = "tiny",
                      .dataset = "imagenet",
                      .image_size = kImageSize,
                      .default_batch = kBatch,
                      .rate = ModelRate::constant,
                      .build = build_tiny};

RunSettings tiny_settings() {
  RunSettings settings;
  settings.workload.model = &kTiny;
  settings.workload.dataset = &dataset_named("imagenet");
  settings.execution.device = RunDevice::reference;
  settings.workload.batch = kBatch;
  settings.workload.image_size = kImageSize;
  settings.workload.num_classes = 3;
  settings.workload.mode = RunMode::forward_only;
  settings.workload.int8 = true;
  return settings;
}

/// The identity in both layers.
InitialValues brightest_plane(const Graph& network) {
  InitialValues values = initial_values(network, 1);
  for (auto& [name, elements] : values) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = elements.size() == 9 && i % 4 == 0 ? 1 : 0;
    }
  }
  return values;
}

Judgement judge(const RunSettings& settings) {
  const auto backend = make_reference_backend();
  InitialValues values =
      brightest_plane(build_run_network(settings.workload, settings.workload.batch));
  std::ostringstream progress;
  const Quantization quantization(settings, *backend, values, progress, {});
  Tower tower(quantization.graph(), *backend, {.format = settings.execution.format}, values);
  return quantization.judge(tower);
}

/// Batches of images with one bright plane each. It is the label, except in the first batches.
RunSettings from_file(const ScratchFolder& folder, std::int64_t batches, std::int64_t mislabelled) {
  std::vector<float> images;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < batches * kBatch; ++i) {
    const std::int64_t bright = i % 3;
    for (std::int64_t plane = 0; plane < 3; ++plane) {
      images.insert(images.end(), kPixels, plane == bright ? 1.0F : 0.25F);
    }
    labels.push_back(i < mislabelled * kBatch ? (bright + 1) % 3 : bright);
  }
  const std::int64_t count = batches * kBatch;
  const std::vector<TensorToWrite> tensors = {
      {"images",
       StoredType::f32,
       {count, 3, kImageSize, kImageSize},
       std::as_bytes(std::span(images))},
      {"labels", StoredType::i64, {count}, std::as_bytes(std::span(labels))}};
  RunSettings settings = tiny_settings();
  settings.workload.input.file = folder.path() / "batches.safetensors";
  write_tensor_file(AtomicFile(*settings.workload.input.file), tensors, {});
  return settings;
}

std::string text_of(const Judgement& judgement) {
  std::ostringstream out;
  out << judgement;
  return out.str();
}

TEST(Quantization, IsJudgedByBatchesAfterThoseOfCalibration) {
  const ScratchFolder folder;
  RunSettings settings = from_file(folder, /*batches=*/8, /*mislabelled=*/3);
  settings.workload.calibration_batches = 3;
  const Judgement judgement = judge(settings);
  EXPECT_FALSE(judgement.seen);
  EXPECT_EQ(judgement.agreement.examples, 8);
  EXPECT_EQ(judgement.agreement.same_top_1, 8);
  EXPECT_EQ(judgement.agreement.classes_named, 3);
  ASSERT_TRUE(judgement.correct.has_value());
  EXPECT_EQ(judgement.correct->f32, 8);
  EXPECT_EQ(judgement.correct->int8, 8);
}

TEST(Quantization, SaysIfTheInputHasTooFewImages) {
  const ScratchFolder folder;
  for (const std::int64_t batches : {1, 2, 5}) {
    const Judgement judgement = judge(from_file(folder, batches, 0));
    EXPECT_TRUE(judgement.seen) << batches;
    EXPECT_THAT(text_of(judgement), HasSubstr("some of which calibration may have seen"));
  }
  EXPECT_FALSE(judge(from_file(folder, /*batches=*/2 + 4, 0)).seen);
}

TEST(Quantization, IsJudgedByOtherSyntheticImagesThanItWasCalibratedOn) {
  RunSettings settings = tiny_settings();
  for (const std::int64_t batch : {1, 2, 9}) {
    settings.workload.batch = batch;
    const Judgement judgement = judge(settings);
    EXPECT_FALSE(judgement.seen) << batch;
    EXPECT_EQ(judgement.agreement.examples, batch == 9 ? 9 : 8);
    EXPECT_GT(judgement.agreement.centred.signal, 0) << "all images are one";
    EXPECT_FALSE(judgement.correct.has_value());
  }
}

TEST(Quantization, SaysWhetherTheWeightsWereTrained) {
  RunSettings settings = tiny_settings();
  EXPECT_FALSE(judge(settings).trained);
  settings.workload.init_from = "weights.safetensors";
  EXPECT_TRUE(judge(settings).trained);
}

TEST(Judgement, IsASentenceWithItsEvidence) {
  Judgement judgement{.agreement = {.plain = {.signal = 1000, .noise = 1},
                                    .centred = {.signal = 10, .noise = 1},
                                    .examples = 32,
                                    .same_top_1 = 31,
                                    .classes_named = 7},
                      .trained = true,
                      .correct = Judgement::Correct{.f32 = 30, .int8 = 29}};
  EXPECT_EQ(
      text_of(judgement),
      "int8 against f32 on 32 images that calibration has not seen: signal-to-noise ratio 10.0 dB "
      "for the differences between images, 30.0 dB for all logits; top-1 agreement 31 of 32; f32 "
      "predicts 7 classes; correct: f32 30, int8 29");
  judgement.trained = false;
  judgement.correct.reset();
  judgement.agreement.classes_named = 1;
  EXPECT_THAT(
      text_of(judgement),
      HasSubstr(
          "top-1 agreement 31 of 32, which is not evidence because f32 predicts the same class for "
          "all images\n"));
  EXPECT_THAT(text_of(judgement), HasSubstr("\nint8: the weights are untrained (no --init_from)"));
}

TEST(Judgement, ExplainsMissingDecibels) {
  Judgement judgement{.agreement = {.examples = 8}};
  EXPECT_THAT(
      text_of(judgement),
      HasSubstr("signal-to-noise ratio undefined (f32's logits are the same for all images) "
                "for the differences between images, undefined (f32's logits are all 0) for"));
  judgement.agreement.centred = {.signal = 4, .noise = 0};
  EXPECT_THAT(
      text_of(judgement),
      HasSubstr("signal-to-noise ratio undefined (int8 and f32 have identical logits) for the"));
  judgement.agreement.plain.noise = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(text_of(judgement),
              HasSubstr("undefined (the logits are not finite) for all logits"));
  EXPECT_THAT(text_of(judgement), Not(HasSubstr("nan")));
  const results::Quantization record = to_record(judgement);
  EXPECT_EQ(record.snr_db.why(), "the logits are not finite");
  EXPECT_EQ(record.centred_snr_db.why(), "int8 and f32 have identical logits");
}

}  // namespace
}  // namespace bench
