#include "kernels/runtime/conversions.h"

#include "models/base/errors.h"

namespace bench {

Placed Conversions::canonical(const Buffer& buffer, DType dtype) const {
  const TensorType type{.dtype = dtype, .shape = buffer.type.shape};
  return {.type = type, .layout = backend_.canonical_layout(type)};
}

std::size_t Conversions::bytes(const Buffer& buffer, DType dtype) const {
  const Placed place = canonical(buffer, dtype);
  return backend_.bytes(place.type, place.layout);
}

void Conversions::read(const Buffer& buffer, TensorView from, DType dtype,
                       std::span<std::byte> host) {
  check(!buffer.type.opaque, fmt::format("executor: {} is opaque and cannot be read", buffer.name));
  launch(from, {.type = buffer.type, .layout = buffer.layout}, staging_.output(host),
         canonical(buffer, dtype));
  staging_.finish_output();
}

void Conversions::write(const Buffer& buffer, TensorView to, DType dtype,
                        std::span<const std::byte> host) {
  const std::size_t expected = bytes(buffer, dtype);
  check(host.size() == expected, fmt::format("executor: {} takes {} bytes, but {} were given",
                                             buffer.name, expected, host.size()));
  launch(staging_.input(host), canonical(buffer, dtype), to,
         {.type = buffer.type, .layout = buffer.layout});
  stream_.synchronize();
}

void Conversions::launch(TensorView from, const Placed& from_place, TensorView to,
                         const Placed& to_place) {
  reorder_ = backend_.make_reorder(from_place, to_place);
  reorder_->launch(stream_, std::span(&from, 1), std::span(&to, 1), nullptr);
}

}  // namespace bench
