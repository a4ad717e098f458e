#pragma once

#include <memory>
#include <span>

#include "kernels/runtime/lowering.h"
#include "kernels/runtime/staging.h"

namespace bench {

/// Brings tensors from the host in canonical order into their place on a device, and back.
class Conversions {
 public:
  /// Both outlive this.
  Conversions(Backend& backend, Stream& stream)
      : backend_(backend), stream_(stream), staging_(backend, stream) {}

  /// Bytes of a tensor in canonical order, its elements of type `dtype`.
  [[nodiscard]] std::size_t bytes(const Buffer& buffer, DType dtype) const;
  /// `host` has so many bytes. Behind what the stream has to do; waits.
  void read(const Buffer& buffer, TensorView from, DType dtype, std::span<std::byte> host);
  /// Throws InternalError for another number of bytes; waits.
  void write(const Buffer& buffer, TensorView to, DType dtype, std::span<const std::byte> host);

 private:
  [[nodiscard]] Placed canonical(const Buffer& buffer, DType dtype) const;
  void launch(TensorView from, const Placed& from_place, TensorView to, const Placed& to_place);

  Backend& backend_;
  Stream& stream_;
  Staging staging_;
  /// Of the last conversion, which may be under way where waiting for it threw.
  std::unique_ptr<Kernel> reorder_;
};

}  // namespace bench
