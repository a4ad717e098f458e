#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/backend.h"

namespace bench {

/// A tensor for the planner: its size and the inclusive range of steps that it must survive.
/// `shares` names an earlier tensor whose memory it takes over (an output in its input's memory).
struct PlannedTensor {
  std::size_t bytes = 0;
  std::int32_t first_step = 0;
  std::int32_t last_step = 0;
  std::optional<std::size_t> shares;
};

struct MemoryPlan {
  /// Per tensor, bytes from the beginning of the region; multiples of the alignment.
  std::vector<std::size_t> offsets;
  std::size_t total_bytes = 0;
};

/// The spacing of tensors in a region.
struct Spacing {
  /// Tensors begin at multiples of it.
  std::size_t alignment = MemoryTraits().alignment;
  /// Free bytes after each tensor.
  std::size_t guard_bytes = 0;
};

constexpr std::size_t align_up(std::size_t bytes, std::size_t alignment = Spacing().alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Places tensors so that none with overlapping lifetimes overlap. Greedy by size, each at the
/// lowest offset that is free for its whole life. After Pisarchyk and Lee, "Efficient Memory
/// Management for Deep Neural Net Inference", arXiv:2001.03288.
MemoryPlan plan_memory(std::span<const PlannedTensor> tensors, const Spacing& spacing = {});

}  // namespace bench
