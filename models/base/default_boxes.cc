#include "models/base/default_boxes.h"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

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

}  // namespace bench
