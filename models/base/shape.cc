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
  check(extents.size() <= kMaxRank, "shape: more axes than Shape::kMaxRank");
  check(std::all_of(extents.begin(), extents.end(), [](auto extent) { return extent >= 0; }),
        "shape: negative extent");
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

std::int64_t Shape::operator[](std::size_t axis) const {
  check(axis < rank_, "shape: no such axis");
  return extents_[axis];
}

Shape Shape::with(std::size_t axis, std::int64_t extent) const {
  check(axis < rank_, "shape: no such axis");
  Shape changed = *this;
  changed.extents_.at(axis) = extent;
  return changed;
}

std::int64_t Shape::elements() const {
  const auto all = extents();
  return std::accumulate(all.begin(), all.end(), std::int64_t{1}, std::multiplies<>());
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  if (shape.rank() == 0) {
    return out << "scalar";
  }
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    out << (axis == 0 ? "" : "x") << shape[axis];
  }
  return out;
}

}  // namespace bench
