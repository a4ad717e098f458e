#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/backend.h"

namespace bench {

/// Memory that is taken piece by piece and given back all at once, and then kept: the system takes
/// its time over every fresh page.
class Arena {
 public:
  /// About so many bytes will be taken at most; only those that are written to cost memory.
  explicit Arena(std::size_t expected_bytes) : expected_bytes_(expected_bytes) {}

  /// So many elements, which begin with anything; theirs until reset(). Throws DeviceError where
  /// the system has no memory.
  template <class T>
  std::span<T> take(std::size_t count) {
    return {static_cast<T*>(take_bytes(count * sizeof(T))), count};
  }
  void reset();

 private:
  struct Block {
    std::size_t bytes = 0;
    std::unique_ptr<DeviceMemory> memory;
  };
  void* take_bytes(std::size_t bytes);

  std::size_t expected_bytes_;
  /// What is taken lies in the last one.
  std::vector<Block> blocks_;
  std::size_t taken_ = 0;
};

}  // namespace bench
