#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>

#include "kernels/gpu_emulator/runtime.h"

namespace bench::cuda::emulator {

constexpr unsigned kWarpLanes = 32;
constexpr unsigned kMostLanes = 1024;
constexpr std::size_t kSharedBytes = std::size_t{48} << 10;

/// Sets the order of a block's lanes and of a grid's blocks: 0 is ascending, 1 is descending, other
/// seeds draw an order for each block.
///
/// A lane runs until it waits for others. Usually the next lane in order then runs, so that warps
/// advance in step. With 1, and sometimes with other seeds, the first ready lane runs. A warp then
/// runs as far ahead as it can.
void set_lane_order(std::uint64_t seed);

/// Turns repetition on or off; initially off. With repetition, each kernel runs several times over
/// the same memory and must leave the same bits each time. The order of lanes and blocks, the
/// contents of shared memory and the bytes around allocations all vary.
void set_repetition(bool on);

/// A kernel's name, grid and block.
struct KernelShape {
  const char* kernel;
  dim3 grid;
  dim3 block;
};
/// Throws InternalError for shapes that no GPU runs: an empty grid or block, more than 1024 lanes,
/// or extents beyond the limits.
void check_shape(const KernelShape& shape);
/// Runs all lanes of a kernel. Throws InternalError for every mistake listed in this folder's
/// README. The message names the kernel, block and lane, and file and line if known.
void run_kernel(const KernelShape& shape, const std::function<void()>& lane);

/// The lane that this thread runs.
struct Position {
  /// Null if none runs.
  const char* kernel;
  uint3 thread;
  uint3 block;
  dim3 block_dim;
  dim3 grid_dim;
  /// The lane's number in its block.
  unsigned lane;
  /// A different number for each block that this thread runs.
  std::uint64_t block_count;
};
extern constinit thread_local Position position;

using Place = std::source_location;

/// A barrier for all lanes of the block.
void meet_block(Place place);
/// A barrier for the lanes of `mask`, each with a value; returns the value of lane `source` of the
/// warp.
std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned source, Place place);
/// A barrier with a vote; returns a bit for each lane of the mask that voted yes.
unsigned vote(unsigned mask, bool yes, Place place);

/// Throws InternalError: the number of lanes in a warp's group must be a power of 2.
[[noreturn]] void refuse_width(int width, Place place);

/// Throws InternalError unless the address is a multiple of `bytes`.
void check_aligned(const void* address, std::size_t bytes, Place place = Place::current());

constexpr std::size_t kSharedGuardBytes = 256;

/// Memory of a block, followed by guard bytes that must not be written.
template <std::size_t bytes>
struct SharedRoom {
  unsigned char memory[bytes];
  unsigned char guard[kSharedGuardBytes];
};

/// Fills the memory with NaN, and checks its guard until the block ends.
void enter_shared(unsigned char* memory, std::size_t bytes, Place place);

/// Called by every lane that reaches the declaration; the first lane of a block enters the memory.
template <std::size_t bytes>
void share(SharedRoom<bytes>& room, std::uint64_t& last_block, Place place = Place::current()) {
  if (last_block != position.block_count) {
    last_block = position.block_count;
    enter_shared(room.memory, bytes, place);
  }
}

}  // namespace bench::cuda::emulator
