#pragma once

#include <memory>
#include <span>

#include "kernels/backend.h"

namespace bench {

/// Memory of the host as the device's kernels can use it: itself where they share it, else a copy
/// on the device, which is kept for the next use. One use at a time.
class Staging {
 public:
  /// Both outlive this.
  Staging(Backend& backend, Stream& stream) : backend_(backend), stream_(stream) {}

  /// Bytes that a kernel reads. They must stay as they are until the stream's work is done.
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
