#pragma once

// CUDA's names for what kernels use, for a compiler without CUDA; see
// kernels/cuda/device/device_api.h.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/cuda/device/runtime.h"
#include "kernels/gpu_emulator/arguments.h"
#include "kernels/gpu_emulator/block.h"
#include "models/base/half.h"

// CUDA's names.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

#define threadIdx (::bench::cuda::emulator::position.thread)
#define blockIdx (::bench::cuda::emulator::position.block)
#define blockDim (::bench::cuda::emulator::position.block_dim)
#define gridDim (::bench::cuda::emulator::position.grid_dim)

// A macro cannot extract the declarator's name. So the memory is an anonymous union, whose other
// member has a known name. Its size is that of a struct with the same declarator.
#define BENCH_SHARED_NUMBERED(type, declarator, shape, room, last_block) \
  struct shape {                                                         \
    type declarator;                                                     \
  };                                                                     \
  static thread_local union {                                            \
    type declarator;                                                     \
    ::bench::cuda::emulator::SharedRoom<sizeof(shape)> room;             \
  };                                                                     \
  static constinit thread_local std::uint64_t last_block = 0;            \
  ::bench::cuda::emulator::share(room, last_block)
#define BENCH_SHARED_COUNTED(type, declarator, number)                               \
  BENCH_SHARED_NUMBERED(type, declarator, SharedShape##number, shared_room_##number, \
                        shared_last_block_##number)
#define BENCH_SHARED_EXPANDED(type, declarator, number) \
  BENCH_SHARED_COUNTED(type, declarator, number)

/// Uninitialized shared memory of a block: BENCH_SHARED(float, sums[8][32]);
#define BENCH_SHARED(type, declarator) BENCH_SHARED_EXPANDED(type, declarator, __COUNTER__)

struct __half {
  std::uint16_t bits;
};
struct __nv_bfloat16 {
  std::uint16_t bits;
};

inline float __half2float(__half value) { return bench::widen(bench::Float16{value.bits}); }
inline float __bfloat162float(__nv_bfloat16 value) {
  return bench::widen(bench::Bfloat16{value.bits});
}
inline __half __float2half_rn(float value) { return {bench::narrow_to_float16(value).bits}; }
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return {bench::narrow_to_bfloat16(value).bits};
}

inline void __syncthreads(std::source_location place = std::source_location::current()) {
  bench::cuda::emulator::meet_block(place);
}

inline void __syncwarp(unsigned mask = ~0U,
                       std::source_location place = std::source_location::current()) {
  bench::cuda::emulator::vote(mask, false, place);
}

namespace bench::cuda::emulator {

/// Lane `source` of the warp's group of `width` lanes, or the lane itself if that is outside.
template <class T>
T shuffle(unsigned mask, T value, unsigned source, bool inside, Place place) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  const unsigned own = position.lane % kWarpLanes;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange(mask, bits, inside ? source : own, place);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/// Checks for a power of 2 up to the warp's 32 lanes.
inline unsigned checked_width(int width, Place place) {
  const auto lanes = static_cast<unsigned>(width);
  if (width < 1 || lanes > kWarpLanes || !std::has_single_bit(lanes)) {
    refuse_width(width, place);
  }
  return lanes;
}

/// The clock that kernels read.
inline thread_local std::uint64_t passed_nanoseconds = 0;

}  // namespace bench::cuda::emulator

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              std::source_location place = std::source_location::current()) {
  namespace emulator = bench::cuda::emulator;
  const unsigned lanes = emulator::checked_width(width, place);
  const unsigned own = emulator::position.lane % emulator::kWarpLanes;
  const unsigned from = (own & ~(lanes - 1)) + (static_cast<unsigned>(source) & (lanes - 1));
  return emulator::shuffle(mask, value, from, true, place);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   std::source_location place = std::source_location::current()) {
  namespace emulator = bench::cuda::emulator;
  const unsigned lanes = emulator::checked_width(width, place);
  const unsigned own = emulator::position.lane % emulator::kWarpLanes;
  const bool inside = delta < lanes && (own & (lanes - 1)) + delta < lanes;
  return emulator::shuffle(mask, value, own + delta, inside, place);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  std::source_location place = std::source_location::current()) {
  namespace emulator = bench::cuda::emulator;
  const unsigned lanes = emulator::checked_width(width, place);
  const unsigned own = emulator::position.lane % emulator::kWarpLanes;
  const unsigned from = own ^ static_cast<unsigned>(lane_mask);
  // A lane may read groups before its group, but not later ones.
  const bool inside = from < (own & ~(lanes - 1)) + lanes;
  return emulator::shuffle(mask, value, from, inside, place);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              std::source_location place = std::source_location::current()) {
  return bench::cuda::emulator::vote(mask, predicate != 0, place);
}
inline int __any_sync(unsigned mask, int predicate,
                      std::source_location place = std::source_location::current()) {
  return bench::cuda::emulator::vote(mask, predicate != 0, place) != 0 ? 1 : 0;
}

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
inline float rsqrtf(float value) { return 1.0F / std::sqrt(value); }
using std::max;
using std::min;

// Lanes run one at a time, so a plain read and write is atomic.
inline int atomicAdd(int* address, int value) { return std::exchange(*address, *address + value); }
inline unsigned atomicAdd(unsigned* address, unsigned value) {
  return std::exchange(*address, *address + value);
}
inline int atomicExch(int* address, int value) { return std::exchange(*address, value); }
inline unsigned atomicExch(unsigned* address, unsigned value) {
  return std::exchange(*address, value);
}

// One lane's writes are already visible to the next one that runs.
inline void __threadfence() {}

// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace bench::cuda {

/// Time passes only when it is read: a microsecond each time, during which a multiprocessor runs at
/// 1.5 GHz.
inline std::uint64_t global_nanoseconds() { return emulator::passed_nanoseconds += 1000; }
inline std::uint64_t multiprocessor_cycles() { return emulator::passed_nanoseconds * 3 / 2; }

using LaunchShape = emulator::KernelShape;

/// Enqueues a kernel with copies of its arguments. Throws InternalError for a shape that no GPU
/// runs, DeviceError if enqueueing fails.
template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, const LaunchShape& shape, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  static_assert((std::is_trivially_copyable_v<std::remove_cvref_t<Parameters>> && ...),
                "a kernel's parameters are copied to the device byte by byte");
  static_assert((!std::is_reference_v<Parameters> && ...), "a reference is the host's address");
  emulator::check_shape(shape);
  const std::tuple<std::remove_cv_t<Parameters>...> copies{Parameters(arguments)...};
  static_cast<void>(emulator::enqueue(stream, shape.kernel, [=] {
    emulator::check_arguments(shape.kernel, copies);
    emulator::run_kernel(shape, [&] { std::apply(kernel, copies); });
  }));
  check_cuda(cudaGetLastError(), shape.kernel);
}

}  // namespace bench::cuda
