#include "kernels/reference/storage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/errors.h"
#include "models/ops/quantized.h"

namespace bench::reference {
namespace {

template <class T>
void load_as(const TensorView& from, const Tensor& to) {
  const T* begin = from.as<T>();
  std::copy(begin, begin + to.elements(), to.data);
}

template <class T>
void store_as(const Tensor& from, const TensorView& to) {
  std::transform(from.data, from.data + from.elements(), to.as<T>(),
                 [](double x) { return static_cast<T>(x); });
}

/// Rounds to nearest, ties to even, and cuts at the ends of the type.
template <class T>
void store_quanta(const Tensor& from, const TensorView& to) {
  const auto lowest = static_cast<double>(std::numeric_limits<T>::min());
  const auto highest = static_cast<double>(std::numeric_limits<T>::max());
  std::transform(from.data, from.data + from.elements(), to.as<T>(), [=](double x) {
    return static_cast<T>(std::clamp(std::nearbyint(x), lowest, highest));
  });
}

}  // namespace

bool is_storable(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::s32 || is_quantized(dtype);
}

Storage storage_of(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (!value.type.opaque) {
    return {.dtype = value.type.dtype, .shape = value.type.shape};
  }
  const Node& producer = graph.nodes()[static_cast<std::size_t>(value.producer)];
  return {.dtype = DType::s32, .shape = graph.shape(producer.outputs[0])};
}

void load(const Storage& storage, const TensorView& from, const Tensor& to) {
  switch (storage.dtype) {
    case DType::f32:
      return load_as<float>(from, to);
    case DType::f64:
      return load_as<double>(from, to);
    case DType::s32:
      return load_as<std::int32_t>(from, to);
    case DType::u8:
      return load_as<std::uint8_t>(from, to);
    case DType::s8:
      return load_as<std::int8_t>(from, to);
    default:
      throw InternalError(cat("reference: cannot read ", name_of(storage.dtype)));
  }
}

void store(const Storage& storage, const Tensor& from, const TensorView& to) {
  switch (storage.dtype) {
    case DType::f32:
      return store_as<float>(from, to);
    case DType::f64:
      return store_as<double>(from, to);
    case DType::s32:
      return store_as<std::int32_t>(from, to);
    case DType::u8:
      return store_quanta<std::uint8_t>(from, to);
    case DType::s8:
      return store_quanta<std::int8_t>(from, to);
    default:
      throw InternalError(cat("reference: cannot write ", name_of(storage.dtype)));
  }
}

}  // namespace bench::reference
