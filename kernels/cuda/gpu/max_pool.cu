#include <limits>

#include "kernels/cuda/gpu/pool_walk.h"

namespace bench::cuda {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// Most windows are squares whose side is a compile-time constant, so that all their loads are in
/// flight together. kSide is 0 for other windows.
template <class T, int N, class Winner, int kSide>
__global__ void max_pool_kernel(PoolWalk walk, const T* __restrict__ x, T* __restrict__ y,
                                Winner* __restrict__ winners) {
  constexpr Winner kNobody = static_cast<Winner>(-1);
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
    float best[N];
    int winner[N];
    for (int i = 0; i < N; ++i) {
      best[i] = kLowest;
      winner[i] = kNobody;
    }
    for (int tap_row = 0; tap_row < kernel_height; ++tap_row) {
      const int row = top + tap_row * height.dilation;
      const T* const of_row = of_image + min(max(row, 0), height.input - 1) * row_elements;
      for (int tap_column = 0; tap_column < kernel_width; ++tap_column) {
        const int column = left + tap_column * width.dilation;
        // A place in the padding reads its nearest neighbour, so that no load waits for a branch.
        const auto loaded =
            load_pack<N>(of_row + std::int64_t{min(max(column, 0), width.input - 1)} * channels);
        const bool inside = is_within(row, height.input) && is_within(column, width.input);
        const int tap = tap_row * kernel_width + tap_column;
        for (int i = 0; i < N; ++i) {
          const float value = widened(loaded.values[i]);
          if (inside && (winner[i] == kNobody || value > best[i])) {
            best[i] = value;
            winner[i] = tap;
          }
        }
      }
    }
    Pack<T, N> result;
    Pack<Winner, N> who;
    for (int i = 0; i < N; ++i) {
      result.values[i] = narrowed<T>(best[i]);
      who.values[i] = static_cast<Winner>(winner[i]);
    }
    const std::int64_t place_in_y =
        image * height.output * (std::int64_t{width.output} * channels) + to;
    store_pack(y + place_in_y, result);
    store_pack(winners + place_in_y, who);
  }
}

template <class T, int N, class Winner>
__global__ void max_pool_backward_kernel(PoolWalk walk, const T* __restrict__ dy,
                                         const Winner* __restrict__ winners, T* __restrict__ dx) {
  const WindowAxis height = walk.height.axis;
  const WindowAxis width = walk.width.axis;
  const PoolPlace place = my_place(walk, height.input, width.input);
  if (!place.inside) {
    return;
  }
  const CoveringWindow first_row = first_covering(walk.height, place.row);
  const CoveringWindow first_column = first_covering(walk.width, place.column);
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
      const std::int64_t of_row = of_image + row.output * row_elements;
      CoveringWindow column = first_column;
      for (; column.tap < width.kernel;
           column.tap += walk.width.period, column.output -= walk.width.outputs_per_period) {
        if (!is_within(column.output, width.output)) {
          continue;
        }
        const std::int64_t window = of_row + std::int64_t{column.output} * channels;
        const auto gradient = load_pack<N>(dy + window);
        const auto who = load_pack<N>(winners + window);
        const int tap = row.tap * width.kernel + column.tap;
        for (int i = 0; i < N; ++i) {
          sums[i] += who.values[i] == tap ? widened(gradient.values[i]) : 0.0F;
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

std::int64_t taps(const ChannelWindows& pooling) {
  return std::int64_t{pooling.height.kernel} * pooling.width.kernel;
}

bool names_in_a_byte(const ChannelWindows& pooling) { return taps(pooling) <= 255; }

template <class T, int N, class Winner, int kSide>
void launch_max_pool(cudaStream_t stream, const MaxPool& args) {
  const PoolWalk walk = walk_of(args.pooling, N);
  launch(stream,
         shape_over("max_pool", walk, args.pooling.height.output, args.pooling.width.output),
         max_pool_kernel<T, N, Winner, kSide>, walk, static_cast<const T*>(args.x),
         static_cast<T*>(args.y), static_cast<Winner*>(args.winners));
}

template <class T, int N, class Winner>
void launch_max_pool_backward(cudaStream_t stream, const MaxPoolBackward& args) {
  const PoolWalk walk = walk_of(args.pooling, N);
  launch(stream,
         shape_over("max_pool_backward", walk, args.pooling.height.input, args.pooling.width.input),
         max_pool_backward_kernel<T, N, Winner>, walk, static_cast<const T*>(args.dy),
         static_cast<const Winner*>(args.winners), static_cast<T*>(args.dx));
}

}  // namespace

std::size_t winner_bytes(const ChannelWindows& pooling) {
  const std::int64_t outputs =
      pooling.batch * pooling.channels * pooling.height.output * std::int64_t{pooling.width.output};
  return static_cast<std::size_t>(outputs) * (names_in_a_byte(pooling) ? 1 : 2);
}

void max_pool_forward(cudaStream_t stream, const MaxPool& args) {
  const ChannelWindows& pooling = args.pooling;
  check(taps(pooling) <= kMostTaps, "cuda: a window has too many taps for max_pool");
  const int side = pooling.height.kernel == pooling.width.kernel ? pooling.width.kernel : 0;
  with_pack(pooling, [&](auto tag, auto pack) {
    using T = typename decltype(tag)::type;
    constexpr int kPack = decltype(pack)::value;
    if (side == 2) {
      launch_max_pool<T, kPack, std::uint8_t, 2>(stream, args);
    } else if (side == 3) {
      launch_max_pool<T, kPack, std::uint8_t, 3>(stream, args);
    } else if (names_in_a_byte(pooling)) {
      launch_max_pool<T, kPack, std::uint8_t, 0>(stream, args);
    } else {
      launch_max_pool<T, kPack, std::uint16_t, 0>(stream, args);
    }
  });
}

void max_pool_gradient(cudaStream_t stream, const MaxPoolBackward& args) {
  with_pack(args.pooling, [&](auto tag, auto pack) {
    using T = typename decltype(tag)::type;
    constexpr int kPack = decltype(pack)::value;
    if (names_in_a_byte(args.pooling)) {
      launch_max_pool_backward<T, kPack, std::uint8_t>(stream, args);
    } else {
      launch_max_pool_backward<T, kPack, std::uint16_t>(stream, args);
    }
  });
}

}  // namespace bench::cuda
