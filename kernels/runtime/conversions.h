#pragma once

#include <memory>
#include <span>

#include "kernels/runtime/lowering.h"
#include "kernels/runtime/staging.h"

namespace bench {

/// Copies tensors in canonical order from the host to their memory on a device, and back.
class Conversions {
 public:
  /// Both arguments must outlive this object.
  Conversions(Backend& backend, Stream& stream)
      : backend_(backend), stream_(stream), staging_(backend, stream) {}

  /// Bytes of a tensor in canonical order, with elements of type `dtype`.
  [[nodiscard]] std::size_t bytes(const Buffer& buffer, DType dtype) const;
  /// `host` has bytes(buffer, dtype) bytes. Runs after the stream's earlier work; waits.
  void read(const Buffer& buffer, TensorView from, DType dtype, std::span<std::byte> host);
  /// Throws InternalError for a wrong number of bytes; waits.
  void write(const Buffer& buffer, TensorView to, DType dtype, std::span<const std::byte> host);

 private:
  [[nodiscard]] Placed canonical(const Buffer& buffer, DType dtype) const;
  void launch(TensorView from, const Placed& from_place, TensorView to, const Placed& to_place);

  Backend& backend_;
  Stream& stream_;
  Staging staging_;
  /// The kernel of the last conversion, which may still be running if waiting for it threw.
  std::unique_ptr<Kernel> reorder_;
};

}  // namespace bench
