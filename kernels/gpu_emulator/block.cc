#include "kernels/gpu_emulator/block.h"

#include <atomic>

#include "kernels/gpu_emulator/lanes.h"
#include "kernels/gpu_emulator/repetition.h"
#include "models/base/errors.h"

namespace bench::cuda::emulator {
namespace {

std::atomic<std::uint64_t> lane_order = 0;
std::atomic<bool> repeats = false;

/// This thread's lanes, made when it runs its first kernel.
Lanes& lanes_of_thread() {
  static thread_local Lanes lanes;
  return lanes;
}

void check_in_kernel(const char* call) {
  if (position.kernel == nullptr) {
    throw InternalError(fmt::format("{} was used outside a kernel", call));
  }
}

}  // namespace

constinit thread_local Position position = {};

void set_lane_order(std::uint64_t seed) { lane_order = seed; }

void set_repetition(bool on) { repeats = on; }

void check_shape(const KernelShape& shape) {
  constexpr unsigned kMostBlocksX = 0x7FFFFFFF;
  constexpr unsigned kMostBlocks = 65535;
  constexpr unsigned kDeepestBlock = 64;
  const auto [kernel, grid, block] = shape;
  const std::uint64_t lanes = std::uint64_t{block.x} * block.y * block.z;
  if (lanes == 0 || block.x > kMostLanes || block.y > kMostLanes || block.z > kDeepestBlock ||
      lanes > kMostLanes) {
    throw InternalError(
        fmt::format("kernel {}: the block has {} x {} x {} lanes; accepted: 1 to {} lanes", kernel,
                    block.x, block.y, block.z, kMostLanes));
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    throw InternalError(fmt::format("kernel {}: the grid of {} x {} x {} blocks is empty", kernel,
                                    grid.x, grid.y, grid.z));
  }
  if (grid.x > kMostBlocksX || grid.y > kMostBlocks || grid.z > kMostBlocks) {
    throw InternalError(
        fmt::format("kernel {}: the grid has {} x {} x {} blocks; accepted: at most {} x {} x {}",
                    kernel, grid.x, grid.y, grid.z, kMostBlocksX, kMostBlocks, kMostBlocks));
  }
}

void run_kernel(const KernelShape& shape, const std::function<void()>& lane) {
  check_shape(shape);
  const auto run = [&](const KernelPass& pass) { lanes_of_thread().run_kernel(shape, lane, pass); };
  const std::uint64_t seed = lane_order;
  if (repeats) {
    run_repeatedly(shape.kernel, seed, run);
  } else {
    run({.lane_order = seed, .block_order = seed});
  }
}

void meet_block(Place place) {
  check_in_kernel("__syncthreads");
  lanes_of_thread().meet_block(place);
}

std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned source, Place place) {
  check_in_kernel("a shuffle");
  return lanes_of_thread().meet_warp(mask, value, source, place);
}

unsigned vote(unsigned mask, bool yes, Place place) {
  check_in_kernel("a vote");
  constexpr unsigned kNoSource = kWarpLanes;
  return static_cast<unsigned>(lanes_of_thread().meet_warp(mask, yes ? 1 : 0, kNoSource, place));
}

void refuse_width(int width, Place place) {
  throw InternalError(
      fmt::format("{}: the shuffle uses groups of {} lanes; accepted: 1, 2, 4, 8, 16 or 32",
                  name_of(place), width));
}

void check_aligned(const void* address, std::size_t bytes, Place place) {
  const auto rest = reinterpret_cast<std::uintptr_t>(address) % bytes;
  if (rest != 0) {
    throw InternalError(
        fmt::format("{}: misaligned access of {} bytes, {} bytes past an aligned address",
                    name_of(place), bytes, rest));
  }
}

void enter_shared(unsigned char* memory, std::size_t bytes, Place place) {
  check_in_kernel("shared memory");
  lanes_of_thread().enter_shared(memory, bytes, place);
}

}  // namespace bench::cuda::emulator
