#include "bench/detection/coco_metric.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <span>

namespace bench {
namespace {

constexpr std::size_t kOverlapLimits = 10;  // 0.50, 0.55, ... 0.95
constexpr std::size_t kRecalls = 101;       // 0.00, 0.01, ... 1.00
constexpr std::array<std::size_t, 3> kDetectionCounts{1, 10, 100};

struct AreaRange {
  double least = 0;
  double most = 0;

  [[nodiscard]] bool contains(double area) const { return area >= least && area <= most; }
};
constexpr double kSmall = 32.0 * 32;
constexpr double kMedium = 96.0 * 96;
constexpr double kLarge = 1e10;
/// All, small, medium, large.
constexpr std::array<AreaRange, 4> kAreas{
    {{0, kLarge}, {0, kSmall}, {kSmall, kMedium}, {kMedium, kLarge}}};

/// With the same roundings as the reference implementation, pycocotools.
double least_overlap(std::size_t index) {
  constexpr double kFirst = 0.5;
  constexpr double kLast = 0.95;
  constexpr double kStep = (kLast - kFirst) / (kOverlapLimits - 1);
  return index + 1 == kOverlapLimits ? kLast : kFirst + kStep * static_cast<double>(index);
}

/// The objects and detections of one class in one image.
struct ClassInImage {
  std::vector<const TrueObject*> objects;
  /// The best, by descending score.
  std::vector<const Detection*> detections;
  /// By detection, then by object.
  std::vector<std::vector<double>> overlaps;
};

/// What a detection counts as, for one limit of the overlap.
enum class Verdict : std::uint8_t { right, wrong, ignored };

/// A detection with its verdicts.
struct JudgedDetection {
  double score = 0;
  std::array<Verdict, kOverlapLimits> verdicts{};
};

/// The overlap with a crowd is the share of the detection that it covers.
double overlap_of(const Detection& detection, const TrueObject& object) {
  if (!object.crowd) {
    return intersection_over_union(detection.box, object.box);
  }
  const double both = intersection(detection.box, object.box);
  return both > 0 ? both / detection.box.area() : 0;
}

ClassInImage class_in_image(const EvaluatedImage& image, std::int32_t category) {
  ClassInImage found;
  for (const TrueObject& object : image.objects) {
    if (object.category == category) {
      found.objects.push_back(&object);
    }
  }
  for (const Detection& detection : image.detections) {
    if (detection.category == category) {
      found.detections.push_back(&detection);
    }
  }
  std::ranges::stable_sort(found.detections, std::ranges::greater(),
                           [](const Detection* each) { return each->score; });
  found.detections.resize(std::min(found.detections.size(), kDetectionCounts.back()));
  for (const Detection* detection : found.detections) {
    std::vector<double>& row = found.overlaps.emplace_back();
    for (const TrueObject* object : found.objects) {
      row.push_back(overlap_of(*detection, *object));
    }
  }
  return found;
}

/// Judges the detections of one image against the objects in the area range; adds the number of
/// these objects to `objects`.
std::vector<JudgedDetection> judge(const ClassInImage& in, const AreaRange& area,
                                   std::int64_t& objects) {
  const auto ignored = [&](std::size_t g) {
    return in.objects[g]->crowd || !area.contains(in.objects[g]->area);
  };
  // The objects that count come first.
  std::vector<std::size_t> order(in.objects.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(order, [&](std::size_t g) { return !ignored(g); });
  objects += std::ranges::count_if(order, [&](std::size_t g) { return !ignored(g); });
  std::vector<JudgedDetection> judged;
  for (const Detection* detection : in.detections) {
    judged.push_back({.score = detection->score});
  }
  constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  for (std::size_t t = 0; t < kOverlapLimits; ++t) {
    std::vector<char> taken(in.objects.size(), 0);
    for (std::size_t d = 0; d < in.detections.size(); ++d) {
      double best = std::min(least_overlap(t), 1 - 1e-10);
      std::size_t match = kNone;
      for (const std::size_t g : order) {
        if (taken[g] != 0 && !in.objects[g]->crowd) {
          continue;
        }
        if (match != kNone && !ignored(match) && ignored(g)) {
          break;  // The others are ignored, too.
        }
        if (in.overlaps[d][g] >= best) {
          best = in.overlaps[d][g];
          match = g;
        }
      }
      Verdict& verdict = judged[d].verdicts[t];
      if (match != kNone) {
        taken[match] = 1;
        verdict = ignored(match) ? Verdict::ignored : Verdict::right;
      } else {
        verdict = area.contains(in.detections[d]->box.area()) ? Verdict::wrong : Verdict::ignored;
      }
    }
  }
  return judged;
}

struct PrecisionAndRecall {
  /// The mean of the precisions at all recalls.
  double precision = 0;
  /// With all detections.
  double recall = 0;
};

/// `detections` has descending scores. There is at least one object.
PrecisionAndRecall precision_and_recall(std::span<const JudgedDetection> detections, std::size_t t,
                                        std::int64_t objects) {
  std::vector<double> precisions;
  std::vector<double> recalls;
  double right = 0;
  double wrong = 0;
  for (const JudgedDetection& detection : detections) {
    right += detection.verdicts.at(t) == Verdict::right ? 1 : 0;
    wrong += detection.verdicts.at(t) == Verdict::wrong ? 1 : 0;
    const double all = right + wrong;
    precisions.push_back(all > 0 ? right / all : 0);
    recalls.push_back(right / static_cast<double>(objects));
  }
  // The best precision at this recall or a larger one.
  for (std::size_t i = precisions.size(); i-- > 1;) {
    precisions[i - 1] = std::max(precisions[i - 1], precisions[i]);
  }
  double sum = 0;
  for (std::size_t r = 0; r < kRecalls; ++r) {
    const double recall = 0.01 * static_cast<double>(r);
    const auto at = std::ranges::lower_bound(recalls, recall);
    if (at != recalls.end()) {
      sum += precisions[static_cast<std::size_t>(at - recalls.begin())];
    }
  }
  return {.precision = sum / static_cast<double>(kRecalls),
          .recall = recalls.empty() ? 0 : recalls.back()};
}

/// A mean over the classes that have objects.
struct Mean {
  double sum = 0;
  std::int64_t count = 0;

  void add(double value) {
    sum += value;
    ++count;
  }
  [[nodiscard]] double value() const { return count > 0 ? sum / static_cast<double>(count) : -1; }
};

/// The means for one area range: by overlap for 100 detections, and by the number of detections.
struct AreaMeans {
  std::array<Mean, kOverlapLimits> precisions;
  std::array<Mean, kDetectionCounts.size()> recalls;
};

void add_class(const std::vector<ClassInImage>& images, const AreaRange& area, AreaMeans& means) {
  std::int64_t objects = 0;
  std::vector<std::vector<JudgedDetection>> judged;
  for (const ClassInImage& image : images) {
    judged.push_back(judge(image, area, objects));
  }
  if (objects == 0) {
    return;
  }
  for (std::size_t m = 0; m < kDetectionCounts.size(); ++m) {
    std::vector<JudgedDetection> all;
    for (const std::vector<JudgedDetection>& of_image : judged) {
      const std::size_t count = std::min(of_image.size(), kDetectionCounts.at(m));
      all.insert(all.end(), of_image.begin(),
                 of_image.begin() + static_cast<std::ptrdiff_t>(count));
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &JudgedDetection::score);
    for (std::size_t t = 0; t < kOverlapLimits; ++t) {
      const PrecisionAndRecall found = precision_and_recall(all, t, objects);
      means.recalls.at(m).add(found.recall);
      if (m + 1 == kDetectionCounts.size()) {
        means.precisions.at(t).add(found.precision);
      }
    }
  }
}

double mean_of(std::span<const Mean> means) {
  Mean all;
  for (const Mean& mean : means) {
    all.sum += mean.sum;
    all.count += mean.count;
  }
  return all.value();
}

}  // namespace

CocoMetric coco_metric(const std::vector<EvaluatedImage>& images) {
  std::set<std::int32_t> categories;
  for (const EvaluatedImage& image : images) {
    for (const TrueObject& object : image.objects) {
      categories.insert(object.category);
    }
  }
  std::array<AreaMeans, kAreas.size()> means;
  for (const std::int32_t category : categories) {
    std::vector<ClassInImage> of_class;
    for (const EvaluatedImage& image : images) {
      ClassInImage in_image = class_in_image(image, category);
      if (!in_image.objects.empty() || !in_image.detections.empty()) {
        of_class.push_back(std::move(in_image));
      }
    }
    for (std::size_t a = 0; a < kAreas.size(); ++a) {
      add_class(of_class, kAreas.at(a), means.at(a));
    }
  }
  constexpr std::size_t k75 = 5;
  const auto& all = means[0];
  return {{mean_of(all.precisions), all.precisions[0].value(), all.precisions[k75].value(),
           mean_of(means[1].precisions), mean_of(means[2].precisions), mean_of(means[3].precisions),
           all.recalls[0].value(), all.recalls[1].value(), all.recalls[2].value(),
           means[1].recalls.back().value(), means[2].recalls.back().value(),
           means[3].recalls.back().value()}};
}

}  // namespace bench
