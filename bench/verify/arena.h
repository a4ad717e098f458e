#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/backend.h"

namespace bench {

/// Memory that is taken piece by piece and released all at once. The arena keeps it, because the
/// system is slow at providing fresh pages.
class Arena {
 public:
  /// The maximum that will be taken, roughly; only memory that is written to costs anything.
  explicit Arena(std::size_t expected_bytes) : expected_bytes_(expected_bytes) {}

  /// `count` uninitialised elements, valid until reset(). Throws DeviceError if the system is out
  /// of memory.
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
  /// Memory is taken from the last one.
  std::vector<Block> blocks_;
  std::size_t taken_ = 0;
};

}  // namespace bench
