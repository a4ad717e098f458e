#include "models/base/shape.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <ostream>

#include "models/base/errors.h"

namespace bench {

Shape::Shape(std::initializer_list<std::int64_t> extents)
    : Shape(std::span<const std::int64_t>(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::int64_t> extents) : rank_(extents.size()) {
  check(extents.size() <= kMaxRank, "shape: there are more axes than Shape::kMaxRank");
  check(std::all_of(extents.begin(), extents.end(), [](auto extent) { return extent >= 0; }),
        "shape: an extent is negative");
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

std::int64_t Shape::operator[](std::size_t axis) const {
  check(axis < rank_, "shape: the axis does not exist");
  return extents_[axis];
}

Shape Shape::with(std::size_t axis, std::int64_t extent) const {
  check(axis < rank_, "shape: the axis does not exist");
  Shape changed = *this;
  changed.extents_.at(axis) = extent;
  return changed;
}

std::int64_t Shape::elements() const {
  const auto all = extents();
  return std::accumulate(all.begin(), all.end(), std::int64_t{1}, std::multiplies<>());
}

std::string to_string(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape.extents()) {
    if (!text.empty()) {
      text += 'x';
    }
    text += fmt::format("{}", extent);
  }
  return text.empty() ? "scalar" : text;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

}  // namespace bench
