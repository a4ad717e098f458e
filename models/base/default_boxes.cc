#include "models/base/default_boxes.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace bench {
namespace {

constexpr double kCenterScale = 10;
constexpr double kSideScale = 5;

struct Sides {
  double height = 0;
  double width = 0;
};

std::vector<Sides> sides_of(const DefaultBoxMap& map) {
  constexpr auto kSize = static_cast<double>(kSsdImageSize);
  const double side = static_cast<double>(map.scale) / kSize;
  const double larger = std::sqrt(side * static_cast<double>(map.next_scale) / kSize);
  std::vector<Sides> all{{side, side}, {larger, larger}};
  for (const std::int64_t proportion : map.proportions) {
    if (proportion > 0) {
      const double root = std::sqrt(static_cast<double>(proportion));
      all.push_back({.height = side / root, .width = side * root});
      all.push_back({.height = side * root, .width = side / root});
    }
  }
  return all;
}

std::vector<CenteredBox> make_default_boxes() {
  std::vector<CenteredBox> boxes;
  boxes.reserve(static_cast<std::size_t>(kDefaultBoxes));
  for (const DefaultBoxMap& map : kDefaultBoxMaps) {
    const double step = static_cast<double>(map.step) / static_cast<double>(kSsdImageSize);
    const auto center = [&](std::int64_t cell) {
      return std::min((static_cast<double>(cell) + 0.5) * step, 1.0);
    };
    for (const Sides& sides : sides_of(map)) {
      for (std::int64_t row = 0; row < map.cells; ++row) {
        for (std::int64_t column = 0; column < map.cells; ++column) {
          boxes.push_back({.y = center(row),
                           .x = center(column),
                           .height = std::min(sides.height, 1.0),
                           .width = std::min(sides.width, 1.0)});
        }
      }
    }
  }
  return boxes;
}

}  // namespace

const std::vector<CenteredBox>& default_boxes() {
  static const std::vector<CenteredBox> kBoxes = make_default_boxes();
  return kBoxes;
}

BoxOffsets offsets_of(const Box& box, const CenteredBox& default_box) {
  // TensorFlow's object detection adds this, so that nothing is divided by 0.
  constexpr double kLeast = 1e-8;
  const double height = default_box.height + kLeast;
  const double width = default_box.width + kLeast;
  return {static_cast<float>(kCenterScale * ((box.y_min + box.y_max) / 2 - default_box.y) / height),
          static_cast<float>(kCenterScale * ((box.x_min + box.x_max) / 2 - default_box.x) / width),
          static_cast<float>(kSideScale * std::log((box.height() + kLeast) / height)),
          static_cast<float>(kSideScale * std::log((box.width() + kLeast) / width))};
}

CenteredBox box_at(std::span<const float, 4> offsets, const CenteredBox& default_box) {
  const auto offset = [&](std::size_t i) { return static_cast<double>(offsets[i]); };
  return {.y = default_box.y + offset(0) / kCenterScale * default_box.height,
          .x = default_box.x + offset(1) / kCenterScale * default_box.width,
          .height = default_box.height * std::exp(offset(2) / kSideScale),
          .width = default_box.width * std::exp(offset(3) / kSideScale)};
}

std::vector<std::int32_t> match_default_boxes(std::span<const Box> objects) {
  constexpr double kLeastOverlap = 0.5;
  constexpr std::int32_t kNone = -1;
  static const std::vector<Box> kCorners = [] {
    std::vector<Box> corners;
    std::ranges::transform(default_boxes(), std::back_inserter(corners), corners_of);
    return corners;
  }();
  std::vector<std::int32_t> matches(kCorners.size(), kNone);
  std::vector<double> best(kCorners.size(), 0);
  std::vector<std::size_t> best_of_object;
  for (std::size_t object = 0; object < objects.size(); ++object) {
    double largest = -1;
    std::size_t at = 0;
    for (std::size_t i = 0; i < kCorners.size(); ++i) {
      const double overlap = intersection_over_union(objects[object], kCorners[i]);
      if (overlap > largest) {
        largest = overlap;
        at = i;
      }
      if (overlap >= kLeastOverlap && overlap > best[i]) {
        best[i] = overlap;
        matches[i] = static_cast<std::int32_t>(object);
      }
    }
    best_of_object.push_back(at);
  }
  for (std::size_t object = objects.size(); object-- > 0;) {
    matches[best_of_object[object]] = static_cast<std::int32_t>(object);
  }
  return matches;
}

}  // namespace bench
