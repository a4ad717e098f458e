#include "bench/detection/detections.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "models/base/default_boxes.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::size_t kCoordinates = 4;
constexpr double kLeastScore = 0.05;
constexpr double kMostOverlap = 0.5;
constexpr std::size_t kMostDetections = 200;

/// Keeps the `kMostDetections` with the largest scores, in descending order. Equal scores keep
/// their order.
void keep_best(std::vector<Detection>& detections) {
  std::ranges::stable_sort(detections, std::ranges::greater(), &Detection::score);
  detections.resize(std::min(detections.size(), kMostDetections));
}

/// Appends those of one class that do not cover a better one.
void add_distinct(std::vector<Detection>& candidates, std::vector<Detection>& found) {
  keep_best(candidates);
  const std::size_t first = found.size();
  for (const Detection& candidate : candidates) {
    const bool covered =
        std::any_of(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                    [&](const Detection& better) {
                      return intersection_over_union(candidate.box, better.box) >= kMostOverlap;
                    });
    if (!covered) {
      found.push_back(candidate);
    }
  }
}

}  // namespace

std::vector<Detection> find_objects(std::span<const float> logits) {
  const std::vector<CenteredBox>& boxes = default_boxes();
  const std::size_t columns = logits.size() / boxes.size();
  check(logits.size() % boxes.size() == 0 && columns > kCoordinates + 1,
        "detections: the logits do not fit the default boxes");
  const std::size_t classes = columns - kCoordinates;
  // A class whose logit is further below the largest one has a smaller score.
  const double least_logit = std::log(kLeastScore);
  std::vector<std::vector<Detection>> candidates(classes);
  std::vector<double> exponentials(classes);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const auto row = logits.subspan(i * columns, columns);
    const auto scores = row.subspan(kCoordinates);
    const double largest = *std::ranges::max_element(scores);
    if (*std::ranges::max_element(scores.subspan(1)) < largest + least_logit) {
      continue;  // It is background.
    }
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      exponentials[c] = std::exp(static_cast<double>(scores[c]) - largest);
      sum += exponentials[c];
    }
    for (std::size_t c = 1; c < classes; ++c) {
      const double score = exponentials[c] / sum;
      if (score > kLeastScore) {
        candidates[c].push_back({.box = corners_of(box_at(row.first<kCoordinates>(), boxes[i])),
                                 .category = static_cast<std::int32_t>(c),
                                 .score = score});
      }
    }
  }
  std::vector<Detection> found;
  for (std::vector<Detection>& of_class : candidates) {
    add_distinct(of_class, found);
  }
  keep_best(found);
  return found;
}

}  // namespace bench
