#pragma once

#include "kernels/cuda/gpu/channel_sums.h"
#include "kernels/cuda/gpu/joined_tiling.h"

// Partial sums joined by the block of a tile that is done last, without a launch of their own.
// Which block that is differs from launch to launch, what it adds and in which order does not.

namespace bench::cuda {

/// Whether this is the block of its tile that came last; what the others wrote before they called
/// is there for it. All lanes of the block have to call. A tile has a ticket, which is 0 before the
/// kernel and behind it.
__device__ inline bool is_last_block(const ChannelTiling& tiling, unsigned* tickets) {
  BENCH_SHARED(unsigned, last);
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    // Behind the barrier it covers what all lanes wrote.
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

/// Sums over all chunks what read(chunk, values) sets for the channels of a lane's pack, kSums for
/// each of the N in NHWC, kSums of one channel in NCHW. Returns whether this lane has sums to
/// write, as join_block does. All lanes of the block have to call.
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
  // As in join_chunks; a pack's sums leave registers for two.
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
  // The block's own sums have been read.
  __syncthreads();
  return join_block<kSums, N>(tiling, packs, sums);
}

/// The partial sums of this number of a lane's channels, as store_partial wrote them: of one
/// channel, the first of the N, in NCHW.
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
