#include "kernels/reference/storage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/errors.h"
#include "models/base/half.h"
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

template <class Half>
void load_half(const TensorView& from, const Tensor& to) {
  const auto* begin = from.as<Half>();
  std::transform(begin, begin + to.elements(), to.data,
                 [](Half x) { return static_cast<double>(widen(x)); });
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
    case DType::bf16:
      return load_half<Bfloat16>(from, to);
    case DType::f16:
      return load_half<Float16>(from, to);
    case DType::u8:
      return load_as<std::uint8_t>(from, to);
    case DType::s8:
      return load_as<std::int8_t>(from, to);
  }
  throw InternalError("unknown element type");
}

void store(const Storage& storage, const Tensor& from, const TensorView& to) {
  switch (storage.dtype) {
    case DType::f32:
      return store_as<float>(from, to);
    case DType::f64:
      return store_as<double>(from, to);
    case DType::s32:
      return store_as<std::int32_t>(from, to);
    case DType::bf16:
      std::transform(from.data, from.data + from.elements(), to.as<Bfloat16>(), narrow_to_bfloat16);
      return;
    case DType::f16:
      std::transform(from.data, from.data + from.elements(), to.as<Float16>(), narrow_to_float16);
      return;
    case DType::u8:
      return store_quanta<std::uint8_t>(from, to);
    case DType::s8:
      return store_quanta<std::int8_t>(from, to);
  }
  throw InternalError("unknown element type");
}

}  // namespace bench::reference
