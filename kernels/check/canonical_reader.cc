#include "kernels/check/canonical_reader.h"

#include <algorithm>
#include <cstring>

#include "models/base/errors.h"

namespace bench {
namespace {

HostTensor widened(const HostTensor& narrow) {
  if (narrow.type.dtype != DType::f32) {
    return narrow;
  }
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

HostTensor picked(HostTensor whole, const Pick& pick) {
  if (pick.every == 1) {
    return whole;
  }
  const Shape& shape = whole.type.shape;
  const std::int64_t extent = shape[pick.axis];
  std::int64_t inner = 1;
  for (std::size_t axis = pick.axis + 1; axis < shape.rank(); ++axis) {
    inner *= shape[axis];
  }
  const std::int64_t outer = shape.elements() / extent / inner;
  const std::size_t run = static_cast<std::size_t>(inner) * size_of(whole.type.dtype);
  HostTensor part{.type = whole.type, .bytes = {}};
  part.type.shape = shape.with(pick.axis, (extent + pick.every - 1) / pick.every);
  part.bytes.reserve(static_cast<std::size_t>(part.type.shape.elements()) *
                     size_of(whole.type.dtype));
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t index = 0; index < extent; index += pick.every) {
      const std::byte* const begin =
          whole.bytes.data() + static_cast<std::size_t>(o * extent + index) * run;
      part.bytes.insert(part.bytes.end(), begin, begin + run);
    }
  }
  return part;
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

HostTensor CanonicalReader::read(const Buffer& buffer, const TensorView& view, const Shape& shape,
                                 const Pick& pick) {
  check(!buffer.type.opaque, cat("reader: ", buffer.name, " is opaque"));
  return widened(picked(read_images(buffer, view, shape), pick));
}

HostTensor CanonicalReader::read_images(const Buffer& buffer, const TensorView& view,
                                        const Shape& shape) {
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
  return tensor;
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
