#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>

#include "kernels/cuda/emulator/runtime.h"

namespace bench::cuda::emulator {

constexpr unsigned kWarpLanes = 32;
constexpr unsigned kMostLanes = 1024;
constexpr std::size_t kSharedBytes = std::size_t{48} << 10;

/// In which order the lanes of a block run, and the blocks of a grid: 0 ascending, 1 descending,
/// others drawn anew for each block. A lane runs until it has to wait for others. What then runs is
/// the next one in order, so that warps go in step, or, with 1 and now and then with the others,
/// the first one that can, so that a warp runs as far ahead as it may.
void set_lane_order(std::uint64_t seed);

/// Whether each kernel runs several times over the same memory and has to leave the same bits there
/// each time: whatever the order of lanes and of blocks, and whatever lies in shared memory and
/// beside allocations. Off at first.
void set_repetition(bool on);

/// A kernel's name and how many lanes run it.
struct KernelShape {
  const char* kernel;
  dim3 grid;
  dim3 block;
};
/// Throws InternalError for what no GPU runs: an empty grid or block, more than 1024 lanes, and
/// extents beyond the limits.
void check_shape(const KernelShape& shape);
/// Runs all lanes of a kernel. Throws InternalError that names kernel, block, lane and, where they
/// are known, file and line, for every mistake that this folder's README names.
void run_kernel(const KernelShape& shape, const std::function<void()>& lane);

/// The lane that this thread runs.
struct Position {
  /// Null where none runs.
  const char* kernel;
  uint3 thread;
  uint3 block;
  dim3 block_dim;
  dim3 grid_dim;
  /// In its block.
  unsigned lane;
  /// Another one for each block that this thread runs.
  std::uint64_t block_count;
};
extern constinit thread_local Position position;

using Place = std::source_location;

/// All lanes of the block meet here.
void meet_block(Place place);
/// The lanes of `mask` meet here, each with a value; returns that of lane `source` of the warp.
std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned source, Place place);
/// They meet and vote; returns a bit for each lane of the mask that voted yes.
unsigned vote(unsigned mask, bool yes, Place place);

/// Throws InternalError: groups of a warp have a power of 2 lanes.
[[noreturn]] void refuse_width(int width, Place place);

/// Throws InternalError unless the address is a multiple of `bytes`.
void check_aligned(const void* address, std::size_t bytes, Place place = Place::current());

constexpr std::size_t kSharedGuardBytes = 256;

/// Memory of a block, and behind it bytes that nobody may write.
template <std::size_t bytes>
struct SharedRoom {
  unsigned char memory[bytes];
  unsigned char guard[kSharedGuardBytes];
};

/// Fills the memory with NaN, and watches its guard until the block ends.
void enter_shared(unsigned char* memory, std::size_t bytes, Place place);

/// Called by every lane that comes by the declaration; the first one of a block enters the room.
template <std::size_t bytes>
void share(SharedRoom<bytes>& room, std::uint64_t& last_block, Place place = Place::current()) {
  if (last_block != position.block_count) {
    last_block = position.block_count;
    enter_shared(room.memory, bytes, place);
  }
}

}  // namespace bench::cuda::emulator
