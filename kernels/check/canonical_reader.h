#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/backend.h"
#include "kernels/runtime/lowering.h"

namespace bench {

/// A tensor in canonical order on the host: f64 where it was of a floating type, else as it was.
struct HostTensor {
  TensorType type;
  std::vector<std::byte> bytes;
};
/// The elements of one in f64.
std::span<double> doubles_of(HostTensor& tensor);
std::span<const double> doubles_of(const HostTensor& tensor);

/// Which part of a tensor is looked at: every so-manieth index of an axis, from the first.
struct Pick {
  std::size_t axis = 0;
  std::int64_t every = 1;
};

/// Reads what lies on a device in the backend's own layouts, of a batch the first images alone.
class CanonicalReader {
 public:
  CanonicalReader(Backend& backend, Stream& stream) : backend_(backend), stream_(stream) {}

  /// `view` is the memory of `buffer`, which is not opaque. `shape` is the buffer's own or, of
  /// fewer images, differs from it in the first extent. Waits.
  HostTensor read(const Buffer& buffer, const TensorView& view, const Shape& shape,
                  const Pick& pick = {});

 private:
  struct Reorder {
    Placed from;
    Placed to;
    std::unique_ptr<Kernel> kernel;
  };

  /// The same with floating numbers of 16 bits in f32.
  HostTensor read_images(const Buffer& buffer, const TensorView& view, const Shape& shape);
  HostTensor convert(const Placed& from, TensorView view);
  /// Made once for each pair.
  Kernel& reorder(const Placed& from, const Placed& to);

  Backend& backend_;
  Stream& stream_;
  std::vector<Reorder> reorders_;
};

}  // namespace bench
