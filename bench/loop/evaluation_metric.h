#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/loop/report.h"
#include "models/zoo/zoo.h"
#include "pipeline/input.h"

namespace bench {

/// How many images have their label among the largest logits: fewer than 1 or 5 logits of its row
/// are larger. As in TensorFlow's in_top_k, a row with a logit that is not finite never counts.
struct EvaluationCounts {
  std::int64_t images = 0;
  std::int64_t top_1 = 0;
  std::int64_t top_5 = 0;

  EvaluationCounts& operator+=(const EvaluationCounts& other);
  /// The counts as shares of the images, of which there must be at least one.
  [[nodiscard]] report::Accuracies accuracies() const;
};
/// Counts the rows i for which `counted`[i] is not 0.
EvaluationCounts count_evaluated(std::span<const float> logits,
                                 std::span<const std::int32_t> labels,
                                 std::span<const char> counted);

/// What an evaluation found in its images.
struct EvaluationScores {
  /// Those that count: all, or those with objects.
  std::int64_t images = 0;
  /// Set for a network that classifies images, if any counts.
  std::optional<report::Accuracies> accuracies = {};
  /// What other networks have instead.
  std::vector<report::Score> others = {};
  /// Precedes the names of `others` in TensorBoard.
  std::string_view group = {};

  /// Top-1 accuracy, or the first of the others: the one that --stop_at_top_1_accuracy compares.
  /// There must be images.
  [[nodiscard]] double main_score() const;
};

/// A tower's part of a batch that is evaluated.
struct EvaluatedPart {
  std::int64_t tower = 0;
  std::span<const float> logits;
  const InputBatch& batch;
  /// The part's first image in the batch.
  std::size_t first = 0;
  /// Not 0: the image counts; one for each image of the part.
  std::span<const char> counted;
};

/// Compares logits with what the images show.
class EvaluationMetric {
 public:
  virtual ~EvaluationMetric() = default;
  /// Adds a part; call it on the tower's thread.
  virtual void add(const EvaluatedPart& part) = 0;
  /// Call it after each batch. Returns its accuracies if the network classifies images.
  virtual std::optional<report::Accuracies> end_batch() { return std::nullopt; }
  /// Those of all batches so far.
  [[nodiscard]] virtual EvaluationScores scores() const = 0;
};

/// The metric of a model that can be evaluated, on that many towers.
std::unique_ptr<EvaluationMetric> make_evaluation_metric(const Model& model, int towers);

}  // namespace bench
