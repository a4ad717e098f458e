#pragma once

#include <memory>
#include <span>

#include "kernels/backend.h"

namespace bench {

/// Host memory for the device's kernels. If they share it, it is used directly; else it is copied
/// to a device buffer, which is kept for the next use. Only one use at a time.
class Staging {
 public:
  /// Both arguments must outlive this object.
  Staging(Backend& backend, Stream& stream) : backend_(backend), stream_(stream) {}

  /// Bytes that a kernel reads. They must stay unchanged until the stream's work is done.
  TensorView input(std::span<const std::byte> host);
  /// Bytes that a kernel writes; the host has them after finish_output(), which waits.
  TensorView output(std::span<std::byte> host);
  void finish_output();

 private:
  TensorView staged(std::size_t bytes);

  Backend& backend_;
  Stream& stream_;
  std::unique_ptr<DeviceMemory> memory_;
  std::size_t capacity_ = 0;
  std::span<std::byte> output_;
};

}  // namespace bench
