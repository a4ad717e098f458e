#include "bench/loop/evaluation_metric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/base/default_boxes.h"
#include "models/base/labelled_object.h"

namespace bench {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

EvaluationCounts counted(const std::vector<float>& row, std::int32_t label) {
  return count_evaluated(row, std::span(&label, 1), std::vector<char>{1});
}

TEST(EvaluationCounts, CountALabelWithFewLargerLogits) {
  const std::vector<float> row{6, 5, 4, 3, 2, 1};
  EXPECT_EQ(counted(row, 0).top_1, 1);
  EXPECT_EQ(counted(row, 1).top_1, 0);
  EXPECT_EQ(counted(row, 4).top_5, 1);
  EXPECT_EQ(counted(row, 5).top_5, 0);
}

TEST(EvaluationCounts, CountEqualLogits) { EXPECT_EQ(counted({2, 2, 2}, 1).top_1, 1); }

TEST(EvaluationCounts, CountNoRowWithANumberThatIsNotFinite) {
  EXPECT_EQ(counted({6, kNan, 4}, 0).top_1, 0);
  EXPECT_EQ(counted({6, kNan, 4}, 0).top_5, 0);
  EXPECT_EQ(counted({std::numeric_limits<float>::infinity(), 1}, 0).top_1, 0);
}

TEST(EvaluationCounts, CountOnlyTheChosenRows) {
  const std::vector<float> rows{1, 0, 1, 0, 1, 0};
  const std::vector<std::int32_t> labels{0, 1, 0};
  const EvaluationCounts counts = count_evaluated(rows, labels, std::vector<char>{1, 0, 1});
  EXPECT_EQ(counts.images, 2);
  EXPECT_EQ(counts.top_1, 2);
  EXPECT_EQ(counts.top_5, 2);
}

/// Two sequences of two words each, from a vocabulary of three.
TEST(PerplexityMetric, IsTheInverseOfTheGeometricMeanOfTheProbabilities) {
  const std::vector<std::int32_t> labels{0, 1, 2, 0};
  const std::vector<BatchNumbers> numbers{
      {.input = "tokens", .per_example = 2},
      {.input = "labels", .values = labels.data(), .per_example = 2}};
  const InputBatch batch{.numbers = numbers};
  std::vector<float> logits(12);
  logits[0] = std::log(2.0F);  // The first word has a probability of 1/2, the others of 1/3.
  const auto metric = make_evaluation_metric(*find_model("lstm_lm", "ptb"), 1);
  metric->add({.logits = logits, .batch = batch, .counted = std::vector<char>{1, 1}});
  EXPECT_FALSE(metric->end_batch());
  EXPECT_EQ(metric->scores().images, 2);
  EXPECT_NEAR(metric->scores().others.at(0).value, std::pow(2.0 * 3 * 3 * 3, 0.25), 1e-6);
  metric->add({.logits = logits, .batch = batch, .counted = std::vector<char>{0, 1}});
  EXPECT_EQ(metric->scores().images, 3);
  EXPECT_NEAR(metric->scores().others.at(0).value, std::pow(2.0 * 243, 1.0 / 6), 1e-6);
}

/// Two utterances of up to four frames: "a b" and "ab", where a space is class 0 and the blank 28.
TEST(ErrorRateMetric, IsTheMeanOfTheUtterances) {
  constexpr std::size_t kSpeechClasses = 29;
  constexpr std::int32_t kBlank = 28;
  const std::vector<std::int32_t> labels{1, 0, 2, 1, 2, 9};
  const std::vector<std::int32_t> counts{3, 2};
  const std::vector<std::int32_t> frames{4, 3};
  const std::vector<BatchNumbers> numbers{
      {.input = "features", .per_example = 1},
      {.input = "labels", .values = labels.data(), .per_example = 3},
      {.input = "label_counts", .values = counts.data(), .per_example = 1},
      {.input = "frames", .values = frames.data(), .per_example = 1}};
  const InputBatch batch{.numbers = numbers};
  const auto logits = [](const std::vector<std::int32_t>& best) {
    std::vector<float> rows(best.size() * kSpeechClasses);
    for (std::size_t i = 0; i < best.size(); ++i) {
      rows[i * kSpeechClasses + static_cast<std::size_t>(best[i])] = 1;
    }
    return rows;
  };
  const auto metric = make_evaluation_metric(*find_model("deepspeech2", "librispeech"), 2);
  // Heard: "a", because the last frame does not count; half of the characters are wrong.
  metric->add({.tower = 1,
               .logits = logits({1, 1, kBlank, 2}),
               .batch = batch,
               .first = 1,
               .counted = std::vector<char>{1}});
  EXPECT_FALSE(metric->end_batch());
  EXPECT_EQ(metric->scores().images, 1);
  EXPECT_DOUBLE_EQ(metric->scores().others.at(0).value, 0.5);
  EXPECT_DOUBLE_EQ(metric->scores().others.at(1).value, 1);
  // Heard: "a b".
  metric->add({.logits = logits({1, 0, kBlank, 2, 5, 5, 5, 5}),
               .batch = batch,
               .counted = std::vector<char>{1, 0}});
  EXPECT_EQ(metric->scores().images, 2);
  EXPECT_EQ(metric->scores().others.at(0).name, "CER");
  EXPECT_DOUBLE_EQ(metric->scores().others.at(0).value, 0.25);
  EXPECT_DOUBLE_EQ(metric->scores().others.at(1).value, 0.5);
}

TEST(ErrorRateMetric, OmitsUtterancesWithoutWords) {
  const std::vector<std::int32_t> labels{0};
  const std::vector<std::int32_t> one{1};
  const std::vector<BatchNumbers> numbers{
      {.input = "labels", .values = labels.data(), .per_example = 1},
      {.input = "label_counts", .values = one.data(), .per_example = 1},
      {.input = "frames", .values = one.data(), .per_example = 1}};
  const auto metric = make_evaluation_metric(*find_model("deepspeech2", "librispeech"), 1);
  const InputBatch batch{.numbers = numbers};
  metric->add({.logits = std::vector<float>(29), .batch = batch, .counted = std::vector<char>{1}});
  EXPECT_EQ(metric->scores().images, 0);
  EXPECT_TRUE(metric->scores().others.empty());
}

constexpr std::size_t kClasses = 81;
constexpr std::size_t kRow = 4 + kClasses;
constexpr auto kImageLogits = static_cast<std::size_t>(kDefaultBoxes) * kRow;

/// The labels of a batch.
struct Labels {
  std::vector<LabelledObject> objects;
  std::vector<LabelledImageSize> sizes;
  std::vector<BatchNumbers> numbers;

  explicit Labels(std::size_t images)
      : objects(images * std::size_t{kMostObjects}),
        sizes(images),
        numbers{{.input = "objects",
                 .dtype = DType::f32,
                 .values = objects.data(),
                 .per_example = 7 * kMostObjects},
                {.input = "image_size",
                 .dtype = DType::f32,
                 .values = sizes.data(),
                 .per_example = 2}} {}
  [[nodiscard]] InputBatch batch() const { return {.numbers = numbers}; }
};

/// An object that equals default box `box` in an image of 200 x 400 pixels.
LabelledObject object_at(std::size_t box, float category) {
  const Box sides = corners_of(default_boxes()[box]);
  return {.y_min = static_cast<float>(sides.y_min * 200),
          .x_min = static_cast<float>(sides.x_min * 400),
          .y_max = static_cast<float>(sides.y_max * 200),
          .x_max = static_cast<float>(sides.x_max * 400),
          .category = category,
          .area = static_cast<float>(sides.area() * 200 * 400)};
}

/// Logits with the same object at default box `box`, without an offset.
std::vector<float> logits_with(std::size_t box, std::size_t category) {
  std::vector<float> logits(kImageLogits);
  for (std::size_t i = 0; i < logits.size(); i += kRow) {
    logits[i + 4] = 20;
  }
  logits[box * kRow + 4 + category] = 30;
  return logits;
}

const Model& ssd300() { return *find_model("ssd300", "coco"); }

constexpr std::size_t kBox = 8000;

TEST(ObjectMetric, FindsTheObjectsInPixelsOfTheFile) {
  Labels labels(1);
  labels.objects[0] = object_at(kBox, 7);
  labels.sizes[0] = {.height = 200, .width = 400};
  const auto metric = make_evaluation_metric(ssd300(), 1);
  const std::vector<char> counted{1};
  metric->add({.logits = logits_with(kBox, 7), .batch = labels.batch(), .counted = counted});
  EXPECT_FALSE(metric->end_batch());
  EXPECT_EQ(metric->scores().images, 1);
  EXPECT_NEAR(metric->scores().main_score(), 1, 1e-9);
  metric->add({.logits = logits_with(kBox, 8), .batch = labels.batch(), .counted = counted});
  metric->end_batch();
  EXPECT_EQ(metric->scores().images, 2);
  EXPECT_NEAR(metric->scores().main_score(), 0.5, 0.01);
}

TEST(ObjectMetric, OmitsImagesWithoutObjectsAndThoseThatDoNotCount) {
  Labels labels(3);
  labels.objects[0] = object_at(kBox, 7);
  labels.objects[std::size_t{2 * kMostObjects}] = object_at(kBox, 7);
  std::ranges::fill(labels.sizes, LabelledImageSize{.height = 200, .width = 400});
  std::vector<float> logits;
  for (const std::size_t category : {7, 7, 3}) {
    std::ranges::copy(logits_with(kBox, category), std::back_inserter(logits));
  }
  const auto metric = make_evaluation_metric(ssd300(), 1);
  metric->add({.logits = logits, .batch = labels.batch(), .counted = std::vector<char>{1, 1, 0}});
  metric->end_batch();
  EXPECT_EQ(metric->scores().images, 1);
  EXPECT_NEAR(metric->scores().main_score(), 1, 1e-9);
}

TEST(ObjectMetric, JoinsThePartsOfTheTowers) {
  Labels labels(2);
  labels.objects[0] = object_at(kBox, 7);
  labels.objects[std::size_t{kMostObjects}] = object_at(kBox, 9);
  std::ranges::fill(labels.sizes, LabelledImageSize{.height = 200, .width = 400});
  const auto metric = make_evaluation_metric(ssd300(), 2);
  const std::vector<char> counted{1};
  const InputBatch batch = labels.batch();
  metric->add(
      {.tower = 1, .logits = logits_with(kBox, 9), .batch = batch, .first = 1, .counted = counted});
  metric->add({.tower = 0, .logits = logits_with(kBox, 7), .batch = batch, .counted = counted});
  metric->end_batch();
  EXPECT_EQ(metric->scores().images, 2);
  EXPECT_NEAR(metric->scores().main_score(), 1, 1e-9);
}

}  // namespace
}  // namespace bench
