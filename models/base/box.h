#pragma once

#include <algorithm>
#include <cmath>

namespace bench {

/// A box by its corners, in any unit.
struct Box {
  double y_min = 0;
  double x_min = 0;
  double y_max = 0;
  double x_max = 0;

  [[nodiscard]] double height() const { return y_max - y_min; }
  [[nodiscard]] double width() const { return x_max - x_min; }
  [[nodiscard]] double area() const { return height() * width(); }
};

/// A box by its centre.
struct CenteredBox {
  double y = 0;
  double x = 0;
  double height = 0;
  double width = 0;
};

inline Box corners_of(const CenteredBox& box) {
  return {.y_min = box.y - box.height / 2,
          .x_min = box.x - box.width / 2,
          .y_max = box.y + box.height / 2,
          .x_max = box.x + box.width / 2};
}

/// The area that both boxes cover.
inline double intersection(const Box& a, const Box& b) {
  const double height = std::min(a.y_max, b.y_max) - std::max(a.y_min, b.y_min);
  const double width = std::min(a.x_max, b.x_max) - std::max(a.x_min, b.x_min);
  return height > 0 && width > 0 ? height * width : 0;
}

/// The share of the boxes' union that both cover; 0 if both are empty.
inline double intersection_over_union(const Box& a, const Box& b) {
  const double both = intersection(a, b);
  return both > 0 ? both / (a.area() + b.area() - both) : 0;
}

}  // namespace bench
