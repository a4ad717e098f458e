#include "bench/verify/arena.h"

#include <algorithm>

#include "kernels/runtime/host_memory.h"
#include "kernels/runtime/memory_plan.h"

namespace bench {

void Arena::reset() {
  taken_ = 0;
  if (blocks_.size() < 2) {
    return;
  }
  std::size_t bytes = 0;
  for (const Block& block : blocks_) {
    bytes += block.bytes;
  }
  blocks_.clear();
  blocks_.push_back({.bytes = bytes, .memory = allocate_host_memory(bytes)});
}

void* Arena::take_bytes(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t needed = align_up(bytes, kAlignment);
  if (blocks_.empty() || blocks_.back().bytes - taken_ < needed) {
    constexpr std::size_t kLeast = std::size_t{1} << 20;
    const std::size_t size = std::max({needed, kLeast, blocks_.empty() ? expected_bytes_ : 0});
    blocks_.push_back({.bytes = size, .memory = allocate_host_memory(size)});
    taken_ = 0;
  }
  void* const begin = blocks_.back().memory->data() + taken_;
  taken_ += needed;
  return begin;
}

}  // namespace bench
