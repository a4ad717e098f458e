#pragma once

#include "kernels/backend.h"
#include "kernels/reference/tensor.h"

namespace bench::reference {

/// The storage of a value: row-major elements of one type.
struct Storage {
  DType dtype = DType::f32;
  Shape shape;
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  }
};

/// A value's storage. An opaque value (max pool's indices) is stored as s32 in the shape of its
/// producer's first output.
Storage storage_of(const Graph& graph, ValueId id);

/// Converts a buffer to double, and a tensor back, rounding to nearest.
void load(const Storage& storage, const TensorView& from, const Tensor& to);
void store(const Storage& storage, const Tensor& from, const TensorView& to);

}  // namespace bench::reference
