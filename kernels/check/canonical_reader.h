#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/backend.h"
#include "kernels/check/arena.h"
#include "kernels/runtime/lowering.h"
#include "kernels/runtime/staging.h"

namespace bench {

/// A tensor in canonical order on the host, in memory of an arena.
struct HostTensor {
  TensorType type;
  std::span<std::byte> bytes;
};

/// Which part of a tensor is looked at: every so-manieth index of an axis, from the first.
struct Pick {
  std::size_t axis = 0;
  std::int64_t every = 1;
};

/// Reads what lies on a device in the backend's own layouts, of a batch the first images alone.
class CanonicalReader {
 public:
  /// `largest_whole`: the bytes of the largest tensor that is read as a whole, to take a part of
  /// it.
  CanonicalReader(Backend& backend, Stream& stream, std::size_t largest_whole)
      : backend_(backend), stream_(stream), staging_(backend, stream), whole_(largest_whole) {}

  /// What is read, and where it is put.
  struct Source {
    /// Not opaque.
    const Buffer& buffer;
    /// Its memory.
    TensorView view;
    /// The buffer's own or, of fewer images, another in the first extent.
    const Shape& shape;
    Pick pick = {};
  };
  /// Floating numbers of 16 bits become f32. Waits.
  HostTensor read(const Source& source, Arena& arena);

 private:
  struct Reorder {
    Placed from;
    Placed to;
    std::unique_ptr<Kernel> kernel;
  };

  HostTensor convert(const Placed& from, TensorView view, Arena& arena);
  /// Made once for each pair.
  Kernel& reorder(const Placed& from, const Placed& to);

  Backend& backend_;
  Stream& stream_;
  Staging staging_;
  std::vector<Reorder> reorders_;
  /// For tensors of which a part is kept.
  Arena whole_;
};

}  // namespace bench
