#include "kernels/reference/storage.h"

#include <algorithm>

#include "models/base/errors.h"
#include "models/base/half.h"

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

}  // namespace

bool is_storable(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || is_half(dtype) || dtype == DType::s32;
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
    case DType::bf16:
      return load_half<Bfloat16>(from, to);
    case DType::f16:
      return load_half<Float16>(from, to);
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
    case DType::bf16:
      std::transform(from.data, from.data + from.elements(), to.as<Bfloat16>(), narrow_to_bfloat16);
      return;
    case DType::f16:
      std::transform(from.data, from.data + from.elements(), to.as<Float16>(), narrow_to_float16);
      return;
    default:
      throw InternalError(cat("reference: cannot write ", name_of(storage.dtype)));
  }
}

}  // namespace bench::reference
