#include "bench/loop/evaluation_metric.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bench/detection/coco_metric.h"
#include "bench/detection/detections.h"
#include "bench/loop/transcript.h"
#include "models/base/errors.h"
#include "models/base/labelled_object.h"

namespace bench {
namespace {

constexpr std::int64_t kTop5 = 5;

class AccuracyMetric final : public EvaluationMetric {
 public:
  explicit AccuracyMetric(int towers) : of_towers_(static_cast<std::size_t>(towers)) {}

  void add(const EvaluatedPart& part) override {
    of_towers_[static_cast<std::size_t>(part.tower)] = count_evaluated(
        part.logits, {part.batch.labels + part.first, part.counted.size()}, part.counted);
  }

  std::optional<report::Accuracies> end_batch() override {
    EvaluationCounts of_batch;
    for (EvaluationCounts& of_tower : of_towers_) {
      of_batch += std::exchange(of_tower, {});
    }
    all_ += of_batch;
    return of_batch.accuracies();
  }

  [[nodiscard]] EvaluationScores scores() const override {
    EvaluationScores scores{.images = all_.images};
    if (all_.images > 0) {
      scores.accuracies = all_.accuracies();
    }
    return scores;
  }

 private:
  std::vector<EvaluationCounts> of_towers_;
  EvaluationCounts all_;
};

std::vector<TrueObject> objects_of(std::span<const LabelledObject> labelled) {
  std::vector<TrueObject> objects;
  for (const LabelledObject& object : labelled) {
    if (object.category > 0) {
      objects.push_back({.box = {.y_min = object.y_min,
                                 .x_min = object.x_min,
                                 .y_max = object.y_max,
                                 .x_max = object.x_max},
                         .category = static_cast<std::int32_t>(object.category),
                         .area = object.area,
                         .crowd = object.crowd != 0});
    }
  }
  return objects;
}

/// Keeps the objects and the detections of all images until the end. As in tf_cnn_benchmarks,
/// images without objects do not count.
class ObjectMetric final : public EvaluationMetric {
 public:
  explicit ObjectMetric(int towers) : of_towers_(static_cast<std::size_t>(towers)) {}

  void add(const EvaluatedPart& part) override {
    std::vector<EvaluatedImage>& images = of_towers_[static_cast<std::size_t>(part.tower)];
    const std::size_t logits = part.logits.size() / part.counted.size();
    for (std::size_t i = 0; i < part.counted.size(); ++i) {
      const auto labels = [&](std::size_t input) {
        return part.batch.numbers[input].bytes(part.first + i, 1);
      };
      const auto& size = *reinterpret_cast<const LabelledImageSize*>(labels(1).data());
      EvaluatedImage image{
          .objects = objects_of({reinterpret_cast<const LabelledObject*>(labels(0).data()),
                                 std::size_t{kMostObjects}}),
          .detections = {}};
      if (part.counted[i] == 0 || image.objects.empty()) {
        continue;
      }
      image.detections = find_objects(part.logits.subspan(i * logits, logits));
      for (Detection& detection : image.detections) {
        detection.box = {.y_min = detection.box.y_min * size.height,
                         .x_min = detection.box.x_min * size.width,
                         .y_max = detection.box.y_max * size.height,
                         .x_max = detection.box.x_max * size.width};
      }
      images.push_back(std::move(image));
    }
  }

  std::optional<report::Accuracies> end_batch() override {
    for (std::vector<EvaluatedImage>& images : of_towers_) {
      std::ranges::move(images, std::back_inserter(all_));
      images.clear();
    }
    return std::nullopt;
  }

  [[nodiscard]] EvaluationScores scores() const override {
    EvaluationScores scores{.images = std::ssize(all_)};
    if (!all_.empty()) {
      const CocoMetric metric = coco_metric(all_);
      scores.group = "COCO/";
      for (std::size_t i = 0; i < metric.values.size(); ++i) {
        scores.others.push_back({.name = CocoMetric::kNames.at(i), .value = metric.values.at(i)});
      }
    }
    return scores;
  }

 private:
  std::vector<std::vector<EvaluatedImage>> of_towers_;
  std::vector<EvaluatedImage> all_;
};

/// The cross-entropy of rows of logits.
struct CrossEntropy {
  double sum = 0;
  std::int64_t rows = 0;
  std::int64_t examples = 0;

  void add(std::span<const float> logits, std::int32_t label) {
    const float largest = *std::ranges::max_element(logits);
    double exponentials = 0;
    for (const float logit : logits) {
      exponentials += static_cast<double>(std::exp(logit - largest));
    }
    sum += std::log(exponentials) +
           static_cast<double>(largest - logits[static_cast<std::size_t>(label)]);
    ++rows;
  }
};

class PerplexityMetric final : public EvaluationMetric {
 public:
  explicit PerplexityMetric(int towers) : of_towers_(static_cast<std::size_t>(towers)) {}

  void add(const EvaluatedPart& part) override {
    CrossEntropy& entropy = of_towers_[static_cast<std::size_t>(part.tower)];
    const BatchNumbers& labels = part.batch.numbers.back();
    const std::size_t rows = labels.per_example;
    const std::size_t classes = part.logits.size() / (part.counted.size() * rows);
    for (std::size_t i = 0; i < part.counted.size(); ++i) {
      if (part.counted[i] == 0) {
        continue;
      }
      const std::byte* const own = labels.bytes(part.first + i, 1).data();
      for (std::size_t row = 0; row < rows; ++row) {
        entropy.add(part.logits.subspan((i * rows + row) * classes, classes),
                    reinterpret_cast<const std::int32_t*>(own)[row]);
      }
      ++entropy.examples;
    }
  }

  [[nodiscard]] EvaluationScores scores() const override {
    CrossEntropy all;
    for (const CrossEntropy& entropy : of_towers_) {
      all.sum += entropy.sum;
      all.rows += entropy.rows;
      all.examples += entropy.examples;
    }
    EvaluationScores scores{.images = all.examples};
    if (all.rows > 0) {
      scores.others = {
          {.name = "perplexity", .value = std::exp(all.sum / static_cast<double>(all.rows))}};
    }
    return scores;
  }

 private:
  std::vector<CrossEntropy> of_towers_;
};

/// The errors of transcripts, as shares of what was said.
struct TranscriptErrors {
  double characters = 0;
  double words = 0;
  std::int64_t examples = 0;
};

/// Compares the transcripts of greedy decoding with the labels. As in tf_cnn_benchmarks, the rates
/// are the means of those of the utterances. Utterances without words do not count.
class ErrorRateMetric final : public EvaluationMetric {
 public:
  ErrorRateMetric(int towers, std::int64_t classes)
      : of_towers_(static_cast<std::size_t>(towers)), classes_(static_cast<std::size_t>(classes)) {}

  void add(const EvaluatedPart& part) override {
    TranscriptErrors& errors = of_towers_[static_cast<std::size_t>(part.tower)];
    const std::size_t logits = part.logits.size() / part.counted.size();
    for (std::size_t i = 0; i < part.counted.size(); ++i) {
      const auto numbers = [&](std::size_t from_the_end) {
        const BatchNumbers& input = part.batch.numbers[part.batch.numbers.size() - from_the_end];
        return std::span(
            reinterpret_cast<const std::int32_t*>(input.bytes(part.first + i, 1).data()),
            input.per_example);
      };
      const std::span<const std::int32_t> labels = numbers(3);
      const auto count = static_cast<std::size_t>(numbers(2).front());
      const Transcript said(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(count));
      if (part.counted[i] == 0 || words_of(said).empty()) {
        continue;
      }
      const Transcript heard = decode_greedily(part.logits.subspan(i * logits, logits), classes_,
                                               static_cast<std::size_t>(numbers(1).front()));
      errors.characters += edit_distance(said, heard) / static_cast<double>(said.size());
      errors.words += edit_distance(words_of(said), words_of(heard)) /
                      static_cast<double>(words_of(said).size());
      ++errors.examples;
    }
  }

  [[nodiscard]] EvaluationScores scores() const override {
    TranscriptErrors all;
    for (const TranscriptErrors& errors : of_towers_) {
      all.characters += errors.characters;
      all.words += errors.words;
      all.examples += errors.examples;
    }
    EvaluationScores scores{.images = all.examples};
    if (all.examples > 0) {
      const auto examples = static_cast<double>(all.examples);
      scores.others = {{.name = "CER", .value = all.characters / examples},
                       {.name = "WER", .value = all.words / examples}};
    }
    return scores;
  }

 private:
  std::vector<TranscriptErrors> of_towers_;
  std::size_t classes_;
};

}  // namespace

EvaluationCounts& EvaluationCounts::operator+=(const EvaluationCounts& other) {
  images += other.images;
  top_1 += other.top_1;
  top_5 += other.top_5;
  return *this;
}

report::Accuracies EvaluationCounts::accuracies() const {
  check(images > 0, "an accuracy needs images");
  const auto all = static_cast<double>(images);
  return {.top_1 = static_cast<double>(top_1) / all, .top_5 = static_cast<double>(top_5) / all};
}

EvaluationCounts count_evaluated(std::span<const float> logits,
                                 std::span<const std::int32_t> labels,
                                 std::span<const char> counted) {
  const std::size_t classes = logits.size() / labels.size();
  EvaluationCounts counts;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (counted[i] == 0) {
      continue;
    }
    ++counts.images;
    const auto row = logits.subspan(i * classes, classes);
    const bool finite = std::ranges::all_of(row, [](float logit) { return std::isfinite(logit); });
    const float own = row[static_cast<std::size_t>(labels[i])];
    const auto larger = std::ranges::count_if(row, [&](float logit) { return logit > own; });
    counts.top_1 += finite && larger < 1 ? 1 : 0;
    counts.top_5 += finite && larger < kTop5 ? 1 : 0;
  }
  return counts;
}

double EvaluationScores::main_score() const {
  check(accuracies || !others.empty(), "a score needs images");
  return accuracies ? accuracies->top_1 : others.front().value;
}

std::unique_ptr<EvaluationMetric> make_evaluation_metric(const Model& model, int towers) {
  switch (model.metric()) {
    case ModelMetric::accuracy:
      return std::make_unique<AccuracyMetric>(towers);
    case ModelMetric::average_precision:
      return std::make_unique<ObjectMetric>(towers);
    case ModelMetric::perplexity:
      return std::make_unique<PerplexityMetric>(towers);
    case ModelMetric::error_rates:
      return std::make_unique<ErrorRateMetric>(towers, model.num_classes);
    case ModelMetric::none:
      break;
  }
  throw InternalError(fmt::format("{} has no metric", model.name));
}

}  // namespace bench
