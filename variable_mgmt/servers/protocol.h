#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "kernels/optimizer.h"
#include "kernels/step_state.h"

namespace bench {

/// Bytes in the host's memory, aligned to 64.
class SharedBytes {
 public:
  static std::shared_ptr<SharedBytes> make(std::size_t size) {
    return std::make_shared<SharedBytes>(size);
  }
  explicit SharedBytes(std::size_t size)
      : size_(size), bytes_(static_cast<std::byte*>(::operator new(size, kAlignment))) {}
  ~SharedBytes() { ::operator delete(bytes_, kAlignment); }
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;

  [[nodiscard]] std::byte* data() { return bytes_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> span() { return {bytes_, size_}; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  std::size_t size_;
  std::byte* bytes_;
};

/// A worker's request to a parameter server. Contents of `bytes` bytes follow it. All of it is sent
/// as it is in memory.
struct ServerRequest {
  enum class Kind : std::int32_t {
    variables,  ///< First values, after the ServedSegments. Resets the slots. From worker 0 only.
    gradients,  ///< A step's gradients. The server replies with new values.
    end,        ///< The last request, without contents.
  };
  Kind kind = Kind::end;
  /// With `end`: the worker's exit status.
  std::int32_t status = 0;
  StepParameters parameters = {};
  double loss_scale = 1;
  /// The server's updates before it sent the variables that the worker computed with.
  std::int64_t updates = 0;
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;
};

/// One variable of a server. They follow each other without gaps.
struct ServedSegment {
  std::uint64_t count = 0;
  std::uint64_t decayed = 1;
};

/// A server's answer to gradients. The values of its variables follow.
struct ServerReply {
  /// The updates that the server has made since it got the first values.
  std::int64_t updates = 0;
  /// The updates between the variables that the worker computed with, and this one.
  std::int64_t staleness = 0;
};

/// The segments of each server, in order. Each goes to the server with the fewest elements so far,
/// as in tf_cnn_benchmarks; the first of them if there are several.
std::vector<std::vector<OptimizerSegment>> divide_among_servers(
    std::span<const OptimizerSegment> segments, int servers);

/// The number of elements of all segments.
std::size_t count_elements(std::span<const OptimizerSegment> segments);

}  // namespace bench
