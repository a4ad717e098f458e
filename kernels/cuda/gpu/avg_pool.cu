#include "kernels/cuda/gpu/pool_walk.h"

namespace bench::cuda {
namespace {

/// kSide is the same as in max_pool.cu.
template <class T, int N, int kSide>
__global__ void avg_pool_kernel(PoolWalk walk, const T* __restrict__ x, T* __restrict__ y) {
  const WindowAxis height = walk.height.axis;
  const WindowAxis width = walk.width.axis;
  const PoolPlace place = my_place(walk, height.output, width.output);
  if (!place.inside) {
    return;
  }
  const int kernel_height = kSide > 0 ? kSide : height.kernel;
  const int kernel_width = kSide > 0 ? kSide : width.kernel;
  const int top = place.row * height.stride - height.pad_before;
  const int left = place.column * width.stride - width.pad_before;
  const int channels = walk.packs * N;
  const std::int64_t row_elements = std::int64_t{width.input} * channels;
  const std::int64_t from = std::int64_t{place.pack} * N;
  const std::int64_t to = (std::int64_t{place.row} * width.output + place.column) * channels + from;
  for (std::int64_t image = first_image(); image < walk.images; image += image_step()) {
    const T* const of_image = x + image * height.input * row_elements + from;
    float sums[N] = {};
    int covered = 0;
    for (int tap_row = 0; tap_row < kernel_height; ++tap_row) {
      const int row = top + tap_row * height.dilation;
      const T* const of_row = of_image + min(max(row, 0), height.input - 1) * row_elements;
      // A row's elements are added first: long sums lose less precision.
      float of_taps[N] = {};
      for (int tap_column = 0; tap_column < kernel_width; ++tap_column) {
        const int column = left + tap_column * width.dilation;
        // A place in the padding reads its nearest neighbour, so that no load waits for a branch.
        const auto loaded =
            load_pack<N>(of_row + std::int64_t{min(max(column, 0), width.input - 1)} * channels);
        const bool inside = is_within(row, height.input) && is_within(column, width.input);
        covered += inside ? 1 : 0;
        for (int i = 0; i < N; ++i) {
          of_taps[i] += inside ? widened(loaded.values[i]) : 0.0F;
        }
      }
      for (int i = 0; i < N; ++i) {
        sums[i] += of_taps[i];
      }
    }
    const float share = 1.0F / static_cast<float>(covered);
    Pack<T, N> result;
    for (int i = 0; i < N; ++i) {
      result.values[i] = narrowed<T>(sums[i] * share);
    }
    store_pack(y + image * height.output * (std::int64_t{width.output} * channels) + to, result);
  }
}

/// The number of a window's taps that are inside the input.
__device__ inline int taps_inside(const WindowAxis& axis, int output) {
  const int begin = output * axis.stride - axis.pad_before;
  if (begin >= 0 && begin + (axis.kernel - 1) * axis.dilation < axis.input) {
    return axis.kernel;
  }
  // Only windows at the border get here.
  const int first = (max(-begin, 0) + axis.dilation - 1) / axis.dilation;
  const int end = (max(axis.input - begin, 0) + axis.dilation - 1) / axis.dilation;
  return min(end, axis.kernel) - first;
}

template <class T, int N>
__global__ void avg_pool_backward_kernel(PoolWalk walk, const T* __restrict__ dy,
                                         T* __restrict__ dx) {
  const WindowAxis height = walk.height.axis;
  const WindowAxis width = walk.width.axis;
  const PoolPlace place = my_place(walk, height.input, width.input);
  if (!place.inside) {
    return;
  }
  const CoveringWindow first_row = first_covering(walk.height, place.row);
  const CoveringWindow first_column = first_covering(walk.width, place.column);
  const int taps = height.kernel * width.kernel;
  const float share_of_whole = 1.0F / static_cast<float>(taps);
  const int channels = walk.packs * N;
  const std::int64_t row_elements = std::int64_t{width.output} * channels;
  const std::int64_t from = std::int64_t{place.pack} * N;
  const std::int64_t to = (std::int64_t{place.row} * width.input + place.column) * channels + from;
  for (std::int64_t image = first_image(); image < walk.images; image += image_step()) {
    const std::int64_t of_image = image * height.output * row_elements + from;
    float sums[N] = {};
    CoveringWindow row = first_row;
    for (; row.tap < height.kernel;
         row.tap += walk.height.period, row.output -= walk.height.outputs_per_period) {
      if (!is_within(row.output, height.output)) {
        continue;
      }
      const int rows = taps_inside(height, row.output);
      const std::int64_t of_row = of_image + row.output * row_elements;
      CoveringWindow column = first_column;
      for (; column.tap < width.kernel;
           column.tap += walk.width.period, column.output -= walk.width.outputs_per_period) {
        if (!is_within(column.output, width.output)) {
          continue;
        }
        const int covered = rows * taps_inside(width, column.output);
        const float share = covered == taps ? share_of_whole : 1.0F / static_cast<float>(covered);
        const auto gradient = load_pack<N>(dy + of_row + std::int64_t{column.output} * channels);
        for (int i = 0; i < N; ++i) {
          sums[i] = fmaf(widened(gradient.values[i]), share, sums[i]);
        }
      }
    }
    Pack<T, N> result;
    for (int i = 0; i < N; ++i) {
      result.values[i] = narrowed<T>(sums[i]);
    }
    store_pack(dx + image * height.input * (std::int64_t{width.input} * channels) + to, result);
  }
}

template <class T, int N, int kSide>
void launch_avg_pool(cudaStream_t stream, const AvgPool& args) {
  const PoolWalk walk = walk_of(args.pooling, N);
  launch(
      stream, shape_over("avg_pool", walk, args.pooling.height.output, args.pooling.width.output),
      avg_pool_kernel<T, N, kSide>, walk, static_cast<const T*>(args.x), static_cast<T*>(args.y));
}

}  // namespace

void avg_pool_forward(cudaStream_t stream, const AvgPool& args) {
  const ChannelWindows& pooling = args.pooling;
  const int side = pooling.height.kernel == pooling.width.kernel ? pooling.width.kernel : 0;
  with_pack(pooling, [&](auto tag, auto pack) {
    using T = typename decltype(tag)::type;
    constexpr int kPack = decltype(pack)::value;
    if (side == 2) {
      launch_avg_pool<T, kPack, 2>(stream, args);
    } else if (side == 3) {
      launch_avg_pool<T, kPack, 3>(stream, args);
    } else {
      launch_avg_pool<T, kPack, 0>(stream, args);
    }
  });
}

void avg_pool_gradient(cudaStream_t stream, const AvgPoolBackward& args) {
  with_pack(args.pooling, [&](auto tag, auto pack) {
    using T = typename decltype(tag)::type;
    constexpr int kPack = decltype(pack)::value;
    const PoolWalk walk = walk_of(args.pooling, kPack);
    launch(
        stream,
        shape_over("avg_pool_backward", walk, args.pooling.height.input, args.pooling.width.input),
        avg_pool_backward_kernel<T, kPack>, walk, static_cast<const T*>(args.dy),
        static_cast<T*>(args.dx));
  });
}

}  // namespace bench::cuda
