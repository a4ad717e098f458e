#include "bench/verify/canonical_reader.h"

#include <algorithm>
#include <cstring>

#include "models/base/errors.h"

namespace bench {
namespace {

HostTensor tensor_of(const TensorType& type, Arena& arena) {
  const auto elements = static_cast<std::size_t>(type.shape.elements());
  return {.type = type, .bytes = arena.take<std::byte>(elements * size_of(type.dtype))};
}

HostTensor picked(const HostTensor& whole, const Pick& pick, Arena& arena) {
  const Shape& shape = whole.type.shape;
  const std::int64_t extent = shape[pick.axis];
  std::int64_t inner = 1;
  for (std::size_t axis = pick.axis + 1; axis < shape.rank(); ++axis) {
    inner *= shape[axis];
  }
  const std::int64_t outer = shape.elements() / extent / inner;
  const std::size_t run = static_cast<std::size_t>(inner) * size_of(whole.type.dtype);
  TensorType type = whole.type;
  type.shape = shape.with(pick.axis, (extent + pick.every - 1) / pick.every);
  const HostTensor part = tensor_of(type, arena);
  std::byte* to = part.bytes.data();
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t index = 0; index < extent; index += pick.every) {
      std::memcpy(to, whole.bytes.data() + static_cast<std::size_t>(o * extent + index) * run, run);
      to += run;
    }
  }
  return part;
}

}  // namespace

HostTensor CanonicalReader::read(const Source& source, Arena& arena) {
  const Buffer& buffer = source.buffer;
  check(!buffer.type.opaque, fmt::format("reader: {} is opaque", buffer.name));
  Placed from{.type = buffer.type, .layout = buffer.layout};
  TensorView view = source.view;
  bool apart = false;
  if (source.shape != buffer.type.shape) {
    from.type.shape = source.shape;
    view.bytes = backend_.bytes(from.type, buffer.layout);
    apart = view.bytes * static_cast<std::size_t>(buffer.type.shape[0]) !=
            source.view.bytes * static_cast<std::size_t>(source.shape[0]);
  }
  if (apart) {  // The images are not contiguous.
    from.type.shape = buffer.type.shape;
    view = source.view;
  }
  const bool part = source.pick.every != 1;
  HostTensor tensor = convert(from, view, part || apart ? whole_ : arena);
  tensor.type.shape = source.shape;
  tensor.bytes = tensor.bytes.first(static_cast<std::size_t>(source.shape.elements()) *
                                    size_of(tensor.type.dtype));
  if (part || apart) {
    tensor = picked(tensor, source.pick, arena);
    whole_.reset();
  }
  return tensor;
}

HostTensor CanonicalReader::convert(const Placed& from, TensorView view, Arena& arena) {
  TensorType type = from.type;
  if (is_half(type.dtype)) {
    type.dtype = DType::f32;
  }
  const Placed to{.type = type, .layout = backend_.canonical_layout(type)};
  const HostTensor tensor = tensor_of(type, arena);
  check(tensor.bytes.size() == backend_.bytes(type, to.layout),
        "reader: the size of a canonical tensor does not match its elements");
  const TensorView target = staging_.output(tensor.bytes);
  reorder(from, to).launch(stream_, std::span(&view, 1), std::span(&target, 1), nullptr);
  staging_.finish_output();
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
