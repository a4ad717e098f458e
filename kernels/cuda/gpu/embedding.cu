#include "kernels/cuda/gpu/embedding.h"

#include <limits>

#include "kernels/cuda/gpu/row_copy.h"

namespace bench::cuda {
namespace {

constexpr int kWarp = 32;
/// Lanes of a block that sums one row of the gradient.
constexpr int kLanes = 256;
constexpr int kWarps = kLanes / kWarp;

template <class T, int N>
__global__ void embedding_kernel(std::int64_t rows, std::int64_t columns,
                                 const T* __restrict__ table, const std::int32_t* __restrict__ ids,
                                 T* __restrict__ y) {
  const std::int32_t id = ids[blockIdx.x];
  T* const to = y + std::int64_t{blockIdx.x} * columns;
  if (id >= 0 && id < rows) {
    copy_row<T, N>(table + id * columns, to, columns);
    return;
  }
  for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    to[i] = narrowed<T>(std::numeric_limits<float>::quiet_NaN());
  }
}

/// Counts the places of each id.
__global__ void __launch_bounds__(kLanes)
    count_places_kernel(std::int64_t rows, std::int64_t count, const std::int32_t* __restrict__ ids,
                        int* places) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kLanes + threadIdx.x;
  if (i < count && ids[i] >= 0 && ids[i] < rows) {
    atomicAdd(&places[ids[i]], 1);
  }
}

/// Collects one bit per lane of the block; all lanes must call it.
__device__ void vote(bool yes, unsigned (&votes)[kWarps]) {
  // Other lanes may still be reading the previous votes.
  __syncthreads();
  const unsigned of_warp = __ballot_sync(0xFFFFFFFFU, yes);
  if (threadIdx.x % kWarp == 0) {
    votes[threadIdx.x / kWarp] = of_warp;
  }
  __syncthreads();
}

/// True if `id` also occurs before the place. Searches backwards.
__device__ bool is_earlier(const std::int32_t* ids, std::int32_t id, std::int64_t place,
                           unsigned (&votes)[kWarps]) {
  for (std::int64_t end = place; end > 0; end -= kLanes) {
    const std::int64_t i = end - 1 - threadIdx.x;
    vote(i >= 0 && ids[i] == id, votes);
    unsigned any = 0;
    for (const unsigned of_warp : votes) {
      any |= of_warp;
    }
    if (any != 0) {
      return true;
    }
  }
  return false;
}

/// A block per id. The block of an id's first place sums the row, in the order of the places.
template <class T>
__global__ void __launch_bounds__(kLanes)
    sum_rows_kernel(std::int64_t rows, std::int64_t columns, std::int64_t count,
                    const T* __restrict__ dy, const std::int32_t* __restrict__ ids,
                    const int* __restrict__ places, float* __restrict__ dtable) {
  BENCH_SHARED(unsigned, votes[kWarps]);
  const std::int64_t place = blockIdx.x;
  const std::int32_t id = ids[place];
  if (id < 0 || id >= rows) {
    return;
  }
  int left = places[id];
  if (left > 1 && is_earlier(ids, id, place, votes)) {
    return;
  }
  float* const row = dtable + id * columns;
  const auto add = [&](std::int64_t from) {
    for (std::int64_t c = threadIdx.x; c < columns; c += kLanes) {
      row[c] += widened(dy[from * columns + c]);
    }
    --left;
  };
  add(place);
  for (std::int64_t begin = place + 1; left > 0 && begin < count; begin += kLanes) {
    const std::int64_t i = begin + threadIdx.x;
    vote(i < count && ids[i] == id, votes);
    for (int warp = 0; warp < kWarps; ++warp) {
      std::int64_t from = begin + warp * kWarp;
      for (unsigned bits = votes[warp]; bits != 0; bits >>= 1U, ++from) {
        if ((bits & 1U) != 0) {
          add(from);
        }
      }
    }
  }
}

}  // namespace

void embedding(cudaStream_t stream, const Embedding& args) {
  with_packs(args.dtype, args.columns, [&](auto tag, auto pack) {
    using T = typename decltype(tag)::type;
    launch(stream, row_shape("embedding", args.count, args.columns / pack),
           embedding_kernel<T, pack>, args.rows, args.columns, static_cast<const T*>(args.table),
           args.ids, static_cast<T*>(args.y));
  });
}

void embedding_backward(cudaStream_t stream, const EmbeddingBackward& args) {
  const auto zero = [&](void* memory, std::int64_t count, std::size_t size) {
    check_cuda(cudaMemsetAsync(memory, 0, static_cast<std::size_t>(count) * size, stream),
               "cudaMemsetAsync");
  };
  zero(args.dtable, args.rows * args.columns, sizeof(float));
  zero(args.places, args.rows, sizeof(int));
  launch(stream, {"count_places", dim3(blocks_for(args.count, kLanes)), dim3(kLanes)},
         count_places_kernel, args.rows, args.count, args.ids, args.places);
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(stream, {"sum_rows", row_grid("sum_rows", args.count), dim3(kLanes)}, sum_rows_kernel<T>,
           args.rows, args.columns, args.count, static_cast<const T*>(args.dy), args.ids,
           static_cast<const int*>(args.places), args.dtable);
  });
}

}  // namespace bench::cuda
