#pragma once

#include <type_traits>

#include "kernels/cuda/gpu/channel_tiling.h"
#include "kernels/cuda/gpu/element.h"

// Device code of the kernels that walk over a ChannelTiling; they are launched with its grid and
// block.

/// Needed before a loop over an array of registers: without unrolling, the array goes to memory.
#ifdef BENCH_EMULATED_GPU
#define BENCH_UNROLL
#else
#define BENCH_UNROLL _Pragma("unroll")
#endif

namespace bench::cuda {

/// Blocks of a kernel that changes each element: enough that the last of them leave no gap.
inline constexpr std::int64_t kBlocksToApply = 4096;

inline dim3 grid_of(const ChannelTiling& tiling) { return {tiling.tiles, tiling.chunks, 1}; }
inline dim3 block_of(const ChannelTiling& tiling) { return {tiling.lanes_x, tiling.lanes_y, 1}; }

/// Calls `body` with the std::integral_constant of a pack that pack_for returned.
template <class T, class Body>
void with_pack(int pack, const Body& body) {
  constexpr int kOfFourBytes = kWidest<T> / 4;
  if (pack == kWidest<T>) {
    body(std::integral_constant<int, kWidest<T>>{});
  } else if (pack == kOfFourBytes) {
    body(std::integral_constant<int, kOfFourBytes>{});
  } else if constexpr (kOfFourBytes > 1) {
    body(std::integral_constant<int, 1>{});
  }
}

/// The packs of one lane: `turns` runs of `count` packs. Offsets and strides are in elements.
struct LanePacks {
  std::int64_t offset = 0;
  std::int64_t stride = 0;
  std::int64_t turn_stride = 0;
  int count = 0;
  int turns = 1;
  /// The channel of the pack's first element.
  std::int64_t channel = 0;
};

/// True if the lane has packs. The others must still wait for it where the block joins sums.
__device__ inline bool has_packs(const LanePacks& packs) { return packs.count > 0; }

__device__ inline std::int64_t first_unit(const ChannelTiling& tiling, unsigned chunk) {
  return chunk * tiling.units_per_chunk;
}

/// The number of units in a chunk; the last chunk may be short.
__device__ inline int units_in(const ChannelTiling& tiling, unsigned chunk) {
  return static_cast<int>(min(tiling.units_per_chunk, tiling.units - first_unit(tiling, chunk)));
}

/// The number of elements in each channel.
__device__ inline float elements_of_channel(const ChannelTiling& tiling) {
  return static_cast<float>(tiling.units) * static_cast<float>(tiling.run);
}

/// The same in a chunk.
__device__ inline float elements_in(const ChannelTiling& tiling, unsigned chunk) {
  return static_cast<float>(units_in(tiling, chunk)) * static_cast<float>(tiling.run);
}

/// The number of `step`s from `first` to below `end`.
__device__ inline int steps_between(int first, int end, int step) {
  return first < end ? (end - first + step - 1) / step : 0;
}

/// This lane's packs of a tile in a chunk.
__device__ inline LanePacks lane_packs(const ChannelTiling& tiling, unsigned tile, unsigned chunk) {
  const int units = units_in(tiling, chunk);
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int lanes_x = static_cast<int>(tiling.lanes_x);
  const int lanes_y = static_cast<int>(tiling.lanes_y);
  LanePacks packs;
  packs.offset = (first_unit(tiling, chunk) + y) * tiling.unit_stride;
  if (tiling.order == Order::nhwc) {
    packs.channel = (static_cast<std::int64_t>(tile) * lanes_x + x) * tiling.pack;
    packs.offset += packs.channel;
    packs.count = packs.channel < tiling.channels ? steps_between(y, units, lanes_y) : 0;
    packs.stride = lanes_y * tiling.unit_stride;
    return packs;
  }
  packs.channel = tile;
  packs.offset += tile * tiling.run + static_cast<std::int64_t>(x) * tiling.pack;
  const auto of_plane = static_cast<int>(tiling.packs);
  if (of_plane == lanes_x) {
    packs.count = steps_between(y, units, lanes_y);
    packs.stride = lanes_y * tiling.unit_stride;
    return packs;
  }
  packs.count = steps_between(x, of_plane, lanes_x);
  packs.stride = static_cast<std::int64_t>(lanes_x) * tiling.pack;
  packs.turns = steps_between(y, units, lanes_y);
  packs.turn_stride = lanes_y * tiling.unit_stride;
  return packs;
}

/// Calls use(load(offset), offset) for the lane's packs in order. Keeps kAtOnce loads in flight
/// before using the first: a single load does not cover the memory's latency.
template <int kAtOnce, class Load, class Use>
__device__ void for_each_pack(const LanePacks& packs, const Load& load, const Use& use) {
  for (int turn = 0; turn < packs.turns; ++turn) {
    std::int64_t offset = packs.offset + turn * packs.turn_stride;
    int left = packs.count;
    for (; left >= kAtOnce; left -= kAtOnce) {
      decltype(load(offset)) loaded[kAtOnce];
      BENCH_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        loaded[i] = load(offset + i * packs.stride);
      }
      BENCH_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        use(loaded[i], offset + i * packs.stride);
      }
      offset += kAtOnce * packs.stride;
    }
    for (; left > 0; --left) {
      use(load(offset), offset);
      offset += packs.stride;
    }
  }
}

/// A pack as floats.
template <class T, int N>
__device__ void to_floats(const Pack<T, N>& pack, float (&values)[N]) {
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    values[k] = widened(pack.values[k]);
  }
}

template <class T, int N>
__device__ Pack<T, N> to_pack(const float (&values)[N]) {
  Pack<T, N> pack;
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    pack.values[k] = narrowed<T>(values[k]);
  }
  return pack;
}

/// Loads N floats from an address that is aligned to all of them, or to 16 bytes.
template <int N>
__device__ void load_floats(const float* from, float (&values)[N]) {
  constexpr int kAtOnce = N < 4 ? N : 4;
  BENCH_UNROLL
  for (int k = 0; k < N; k += kAtOnce) {
    const Pack<float, kAtOnce> pack = load_pack<kAtOnce>(from + k);
    BENCH_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      values[k + i] = pack.values[i];
    }
  }
}

template <int N>
__device__ void store_floats(float* to, const float (&values)[N]) {
  constexpr int kAtOnce = N < 4 ? N : 4;
  BENCH_UNROLL
  for (int k = 0; k < N; k += kAtOnce) {
    Pack<float, kAtOnce> pack;
    BENCH_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      pack.values[i] = values[k + i];
    }
    store_pack(to + k, pack);
  }
}

/// A channel vector's values for each element of a pack; `otherwise` if it is null.
template <int N>
__device__ void load_channels(const ChannelTiling& tiling, std::int64_t channel,
                              const float* vector, float otherwise, float (&values)[N]) {
  if (vector != nullptr && tiling.order == Order::nhwc) {
    load_floats(vector + channel, values);
    return;
  }
  const float value = vector == nullptr ? otherwise : vector[channel];
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    values[k] = value;
  }
}

/// Writes values back, by the lane that has the results of a pack: N channels in NHWC, the first
/// value in NCHW.
template <int N>
__device__ void store_channels(const ChannelTiling& tiling, std::int64_t channel,
                               const float (&values)[N], float* vector) {
  if (tiling.order == Order::nhwc) {
    store_floats(vector + channel, values);
  } else {
    vector[channel] = values[0];
  }
}

}  // namespace bench::cuda
