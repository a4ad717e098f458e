#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/backend.h"

namespace bench {

/// Adds what lies on several devices, each of which the adding one reaches: chunk by chunk its
/// stream copies a device's elements beside the sum and adds them.
class PeerSum {
 public:
  /// Of `elements` at a time. Throws UsageError where the backend does not add that type.
  PeerSum(Backend& backend, DType dtype, std::size_t elements);

  /// Enqueues that `to` becomes the sum of the elements at each of `terms`, added in their order.
  /// It may be one of them.
  void enqueue(Stream& stream, std::span<const std::byte* const> terms, std::byte* to);

 private:
  /// a + b onto a.
  struct Adder {
    std::size_t elements = 0;
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<DeviceMemory> workspace;
  };
  Adder make_adder(Backend& backend, std::size_t elements) const;
  void enqueue_chunk(Stream& stream, std::span<const std::byte* const> terms, std::byte* to,
                     std::size_t first, const Adder& adder);

  const DType dtype_;
  const std::size_t elements_;
  /// Of whole chunks, and of what is left behind the last of them.
  Adder chunk_;
  Adder rest_;
  std::unique_ptr<DeviceMemory> sum_;
  std::unique_ptr<DeviceMemory> term_;
};

}  // namespace bench
