#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "bench/verify/arena.h"
#include "kernels/backend.h"
#include "kernels/runtime/lowering.h"
#include "kernels/runtime/staging.h"

namespace bench {

/// A tensor in canonical order on the host, in an arena's memory.
struct HostTensor {
  TensorType type;
  std::span<std::byte> bytes;
};

/// The part of a tensor to read: every N-th index of an axis, from the first.
struct Pick {
  std::size_t axis = 0;
  std::int64_t every = 1;
};

/// Reads tensors that are in the backend's layouts on a device; only the first images of a batch.
class CanonicalReader {
 public:
  /// `largest_whole`: bytes of the largest tensor that is read completely in order to take a part.
  CanonicalReader(Backend& backend, Stream& stream, std::size_t largest_whole)
      : backend_(backend), stream_(stream), staging_(backend, stream), whole_(largest_whole) {}

  /// What is read, and from where.
  struct Source {
    /// Not opaque.
    const Buffer& buffer;
    /// Its memory.
    TensorView view;
    /// The buffer's shape, or the same with fewer images in the first extent.
    const Shape& shape;
    Pick pick = {};
  };
  /// Converts 16-bit floating-point numbers to f32. Waits.
  HostTensor read(const Source& source, Arena& arena);

 private:
  struct Reorder {
    Placed from;
    Placed to;
    std::unique_ptr<Kernel> kernel;
  };

  HostTensor convert(const Placed& from, TensorView view, Arena& arena);
  /// Created once for each pair.
  Kernel& reorder(const Placed& from, const Placed& to);

  Backend& backend_;
  Stream& stream_;
  Staging staging_;
  std::vector<Reorder> reorders_;
  /// For tensors of which only a part is kept.
  Arena whole_;
};

}  // namespace bench
