#include "kernels/check/canonical_reader.h"

#include <algorithm>
#include <cstring>

#include "models/base/errors.h"

namespace bench {
namespace {

bool is_floating(DType dtype) {
  return is_half(dtype) || dtype == DType::f32 || dtype == DType::f64;
}

HostTensor widened(const HostTensor& narrow) {
  HostTensor wide{.type = narrow.type, .bytes = {}};
  wide.type.dtype = DType::f64;
  const std::size_t count = narrow.bytes.size() / sizeof(float);
  wide.bytes.resize(count * sizeof(double));
  const auto doubles = doubles_of(wide);
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, narrow.bytes.data() + i * sizeof(float), sizeof(float));
    doubles[i] = static_cast<double>(value);
  }
  return wide;
}

}  // namespace

std::span<double> doubles_of(HostTensor& tensor) {
  check(tensor.type.dtype == DType::f64, "a tensor's elements are not f64");
  // A vector's memory is aligned for every type.
  return {static_cast<double*>(static_cast<void*>(tensor.bytes.data())),
          tensor.bytes.size() / sizeof(double)};
}

std::span<const double> doubles_of(const HostTensor& tensor) {
  check(tensor.type.dtype == DType::f64, "a tensor's elements are not f64");
  return {static_cast<const double*>(static_cast<const void*>(tensor.bytes.data())),
          tensor.bytes.size() / sizeof(double)};
}

HostTensor CanonicalReader::read(const Buffer& buffer, const TensorView& view, const Shape& shape) {
  check(!buffer.type.opaque, cat("reader: ", buffer.name, " is opaque"));
  if (shape == buffer.type.shape) {
    return convert({.type = buffer.type, .layout = buffer.layout}, view);
  }
  TensorType part = buffer.type;
  part.shape = shape;
  const std::size_t bytes = backend_.bytes(part, buffer.layout);
  if (bytes * static_cast<std::size_t>(buffer.type.shape[0]) ==
      view.bytes * static_cast<std::size_t>(shape[0])) {
    return convert({.type = part, .layout = buffer.layout}, {.data = view.data, .bytes = bytes});
  }
  // The images do not lie one behind the other.
  HostTensor tensor = convert({.type = buffer.type, .layout = buffer.layout}, view);
  tensor.bytes.resize(static_cast<std::size_t>(shape.elements()) * size_of(tensor.type.dtype));
  tensor.type.shape = shape;
  return tensor;
}

HostTensor CanonicalReader::convert(const Placed& from, TensorView view) {
  TensorType type = from.type;
  if (is_floating(type.dtype) && type.dtype != DType::f64) {
    type.dtype = DType::f32;
  }
  const Placed to{.type = type, .layout = backend_.canonical_layout(type)};
  HostTensor tensor{.type = type, .bytes = {}};
  tensor.bytes.resize(backend_.bytes(type, to.layout));
  TensorView target{.data = tensor.bytes.data(), .bytes = tensor.bytes.size()};
  reorder(from, to).launch(stream_, std::span(&view, 1), std::span(&target, 1), nullptr);
  stream_.synchronize();
  return type.dtype == DType::f32 ? widened(tensor) : tensor;
}

Kernel& CanonicalReader::reorder(const Placed& from, const Placed& to) {
  const auto found = std::find_if(
      reorders_.begin(), reorders_.end(),
      [&](const Reorder& candidate) { return candidate.from == from && candidate.to == to; });
  if (found != reorders_.end()) {
    return *found->kernel;
  }
  reorders_.push_back({.from = from, .to = to, .kernel = backend_.make_reorder(from, to)});
  return *reorders_.back().kernel;
}

}  // namespace bench
