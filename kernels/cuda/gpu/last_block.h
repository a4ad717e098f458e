#pragma once

#include "kernels/cuda/gpu/channel_sums.h"
#include "kernels/cuda/gpu/joined_tiling.h"

// The last block of a tile joins the partial sums, without a separate launch. Which block is last
// differs from launch to launch, but what it adds, and in which order, does not.

namespace bench::cuda {

/// True if this is the last block of its tile; it then sees what the others wrote before their
/// call. All lanes of the block must call. A tile has a ticket, which is 0 before and after the
/// kernel.
__device__ inline bool is_last_block(const ChannelTiling& tiling, unsigned* tickets) {
  BENCH_SHARED(unsigned, last);
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    // After the barrier, the fence covers the writes of all lanes.
    __threadfence();
    unsigned* const ticket = tickets + blockIdx.x;
    const bool all_came = atomicAdd(ticket, 1U) == tiling.chunks - 1;
    if (all_came) {
      *ticket = 0;
    }
    last = all_came ? 1 : 0;
    __threadfence();
  }
  __syncthreads();
  return last != 0;
}

/// Sums, over all chunks, the values that read(chunk, values) sets for a lane's pack. There are
/// kSums for each of its N channels in NHWC, and kSums for one channel in NCHW. Returns true if
/// this lane has sums to write, as join_block does. All lanes of the block must call.
template <int kSums, int N, class Read>
__device__ bool join_chunks_of_tile(const ChannelTiling& tiling, const LanePacks& packs,
                                    const Read& read, float (&sums)[kSums * N]) {
  const bool nhwc = tiling.order == Order::nhwc;
  const unsigned first = nhwc ? threadIdx.y : threadIdx.y * tiling.lanes_x + threadIdx.x;
  const unsigned step = nhwc ? tiling.lanes_y : tiling.lanes_x * tiling.lanes_y;
  const unsigned end = packs.channel < tiling.channels ? tiling.chunks : 0;
  BENCH_UNROLL
  for (int i = 0; i < kSums * N; ++i) {
    sums[i] = 0.0F;
  }
  // The same as in join_chunks, but a pack's sums leave registers for only two.
  unsigned chunk = first;
  for (; chunk + step < end; chunk += 2 * step) {
    float values[2][kSums * N] = {};
    read(chunk, values[0]);
    read(chunk + step, values[1]);
    BENCH_UNROLL
    for (int i = 0; i < kSums * N; ++i) {
      sums[i] += values[0][i];
      sums[i] += values[1][i];
    }
  }
  if (chunk < end) {
    float values[kSums * N] = {};
    read(chunk, values);
    BENCH_UNROLL
    for (int i = 0; i < kSums * N; ++i) {
      sums[i] += values[i];
    }
  }
  // All lanes have read the block's sums.
  __syncthreads();
  return join_block<kSums, N>(tiling, packs, sums);
}

/// Loads partial sum number `sum` of a lane's channels, as store_partial wrote it. In NCHW, only
/// the first of the N values is set.
template <int N>
__device__ void load_partial(const ChannelTiling& tiling, const LanePacks& packs, unsigned chunk,
                             int sums, int sum, const float* partials, float (&values)[N]) {
  const float* const from =
      partials + (static_cast<std::int64_t>(chunk) * sums + sum) * tiling.channels + packs.channel;
  if (tiling.order == Order::nhwc) {
    load_floats(from, values);
  } else {
    values[0] = *from;
  }
}

}  // namespace bench::cuda
