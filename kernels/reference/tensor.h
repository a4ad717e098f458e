#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <span>

#include "kernels/reference/crew.h"
#include "models/ir/graph.h"

namespace bench::reference {

using Matrix = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Array = Eigen::Map<Eigen::ArrayXd>;

/// A tensor as the reference computes with it: in double, row-major, whatever its storage type.
/// Labels and pooling indices fit too, since double holds every 32-bit integer.
struct Tensor {
  Shape shape;
  double* data = nullptr;

  [[nodiscard]] std::int64_t elements() const { return shape.elements(); }
  [[nodiscard]] Array array() const { return {data, elements()}; }
  /// The scalar's value, or the element at a flat position.
  [[nodiscard]] double& operator[](std::int64_t position) const { return data[position]; }
  /// Rows of the first axis by all other axes.
  [[nodiscard]] Matrix matrix() const {
    const std::int64_t rows = shape[0];
    return {data, rows, rows == 0 ? 0 : elements() / rows};
  }
  /// The elements of channel `c` of image `n`: a plane of NxCxHxW, one element of NxC.
  [[nodiscard]] Array plane(std::int64_t n, std::int64_t c) const {
    const std::int64_t size = elements() / (shape[0] * shape[1]);
    return {data + (n * shape[1] + c) * size, size};
  }
};

/// A node's computation: reads `in`, writes every element of `out`; `crew` has `scratch_elements`
/// doubles for each thread. All three are apart from each other in memory.
struct Operation {
  std::function<void(std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew)>
      compute;
  std::int64_t scratch_elements = 0;
};

}  // namespace bench::reference
