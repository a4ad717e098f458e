#pragma once

#include <algorithm>

#include "kernels/cuda/gpu/channel_walk.h"

// Sums per channel in a fixed order, without float atomics. Lanes sum their packs. A block joins
// its lanes and writes partial sums, [chunk][sum][channel]. A second kernel, or the last block of a
// tile, joins the chunks.

namespace bench::cuda {

/// Bytes of `sums` partial sums per channel and chunk.
inline std::size_t partials_bytes(const ChannelTiling& tiling, int sums) {
  return static_cast<std::size_t>(tiling.chunks * tiling.channels * sums) * sizeof(float);
}

/// Sums `values` over `rows` lanes that are `columns` apart, as a tree; lanes below `columns` get
/// the sums. The block is columns * rows lanes, at most kLanes, and all of them must call. A kernel
/// that calls it again needs a barrier in between.
template <int kLanes, int kValues>
__device__ void join_lanes(unsigned lane, unsigned columns, unsigned rows,
                           float (&values)[kValues]) {
  BENCH_SHARED(float, shared[kValues][kLanes]);
  BENCH_UNROLL
  for (int k = 0; k < kValues; ++k) {
    shared[k][lane] = values[k];
  }
  for (unsigned left = rows; left > 1;) {
    const unsigned half = (left + 1) / 2;
    __syncthreads();
    if (lane + half * columns < left * columns) {
      BENCH_UNROLL
      for (int k = 0; k < kValues; ++k) {
        values[k] += shared[k][lane + half * columns];
        shared[k][lane] = values[k];
      }
    }
    left = half;
  }
}

/// Sums over the lanes of a block: kSums for each of the N elements of a pack. Returns true if this
/// lane has sums to write. In NHWC they are those of its N channels. In NCHW they are those of one
/// channel, the first of the N. All lanes of the block must call.
template <int kSums, int N>
__device__ bool join_block(const ChannelTiling& tiling, const LanePacks& packs,
                           float (&sums)[kSums * N]) {
  const unsigned lane = threadIdx.y * tiling.lanes_x + threadIdx.x;
  if (tiling.order == Order::nhwc) {
    join_lanes<kChannelLanes>(lane, tiling.lanes_x, tiling.lanes_y, sums);
    return threadIdx.y == 0 && packs.channel < tiling.channels;
  }
  float folded[kSums];
  BENCH_UNROLL
  for (int s = 0; s < kSums; ++s) {
    folded[s] = sums[s * N];
    BENCH_UNROLL
    for (int k = 1; k < N; ++k) {
      folded[s] += sums[s * N + k];
    }
  }
  join_lanes<kChannelLanes>(lane, 1, tiling.lanes_x * tiling.lanes_y, folded);
  BENCH_UNROLL
  for (int s = 0; s < kSums; ++s) {
    sums[s * N] = folded[s];
  }
  return lane == 0;
}

/// Writes the block's partial sum number `sum`, out of `sums`, for its channels.
template <int N>
__device__ void store_partial(const ChannelTiling& tiling, const LanePacks& packs, unsigned chunk,
                              int sums, int sum, const float (&values)[N], float* partials) {
  float* const to =
      partials + (static_cast<std::int64_t>(chunk) * sums + sum) * tiling.channels + packs.channel;
  if (tiling.order == Order::nhwc) {
    store_floats(to, values);
  } else {
    *to = values[0];
  }
}

// Kernels that join chunks have blocks of 8 adjacent channels (32 bytes) times as many lanes as
// share the chunks.

inline constexpr unsigned kJoinedChannels = 8;
inline constexpr unsigned kMostJoiningLanes = 1024;

inline dim3 joining_grid(const ChannelTiling& tiling) {
  return {blocks_for(tiling.channels, kJoinedChannels), 1, 1};
}
inline dim3 joining_block(const ChannelTiling& tiling) {
  return {kJoinedChannels, std::min(kMostJoiningLanes / kJoinedChannels, tiling.chunks), 1};
}

/// The channel of a lane of the joining kernels; at least `channels` for idle lanes of the last
/// block.
__device__ inline std::int64_t joined_channel() {
  return static_cast<std::int64_t>(blockIdx.x) * kJoinedChannels + threadIdx.x;
}

/// Sums, over all chunks, the values that read(chunk, values) sets for the lane's channel. Returns
/// true if this lane has the sums to write. All lanes of the block must call.
template <int kSums, class Read>
__device__ bool join_chunks(const ChannelTiling& tiling, const Read& read, float (&sums)[kSums]) {
  const bool in_range = joined_channel() < tiling.channels;
  BENCH_UNROLL
  for (int s = 0; s < kSums; ++s) {
    sums[s] = 0.0F;
  }
  // Several chunks are read before the first of them is added: one read per lane would not cover
  // the memory's latency.
  constexpr unsigned kAtOnce = 4;
  const unsigned step = blockDim.y;
  unsigned chunk = in_range ? threadIdx.y : tiling.chunks;
  for (; chunk + (kAtOnce - 1) * step < tiling.chunks; chunk += kAtOnce * step) {
    float values[kAtOnce][kSums];
    BENCH_UNROLL
    for (unsigned i = 0; i < kAtOnce; ++i) {
      read(chunk + i * step, values[i]);
    }
    BENCH_UNROLL
    for (unsigned i = 0; i < kAtOnce; ++i) {
      BENCH_UNROLL
      for (int s = 0; s < kSums; ++s) {
        sums[s] += values[i][s];
      }
    }
  }
  for (; chunk < tiling.chunks; chunk += step) {
    float values[kSums];
    read(chunk, values);
    BENCH_UNROLL
    for (int s = 0; s < kSums; ++s) {
      sums[s] += values[s];
    }
  }
  join_lanes<kMostJoiningLanes>(threadIdx.y * kJoinedChannels + threadIdx.x, kJoinedChannels,
                                blockDim.y, sums);
  return in_range && threadIdx.y == 0;
}

/// A channel's partial sum.
__device__ inline float partial(const ChannelTiling& tiling, const float* partials, unsigned chunk,
                                int sums, int sum, std::int64_t channel) {
  return partials[(static_cast<std::int64_t>(chunk) * sums + sum) * tiling.channels + channel];
}

}  // namespace bench::cuda
