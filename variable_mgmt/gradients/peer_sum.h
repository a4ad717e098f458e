#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/backend.h"

namespace bench {

/// Adds buffers of several devices whose memory the adding device reaches. Chunk by chunk, its
/// stream copies another device's elements to local memory and adds them to the sum.
class PeerSum {
 public:
  /// Adds `elements` elements per call. Throws UsageError if the backend cannot add that type.
  PeerSum(Backend& backend, DType dtype, std::size_t elements);

  /// Enqueues adding the elements at all `terms`, in order, into `to`, which may be one of them.
  void enqueue(Stream& stream, std::span<const std::byte* const> terms, std::byte* to);

 private:
  /// Adds b to a in place.
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
  /// For whole chunks, and for the remainder.
  Adder chunk_;
  Adder rest_;
  std::unique_ptr<DeviceMemory> sum_;
  std::unique_ptr<DeviceMemory> term_;
};

}  // namespace bench
