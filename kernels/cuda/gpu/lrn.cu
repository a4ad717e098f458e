#include "kernels/cuda/gpu/lrn.h"

#include <algorithm>

#include "kernels/cuda/gpu/element.h"
#include "kernels/cuda/gpu/walk.h"

namespace bench::cuda {
namespace {

constexpr int kLanes = 256;
/// Floats in each array in shared memory.
constexpr std::int64_t kPlaces = 3072;

/// Channels begin..end-1 of some pixels.
struct Run {
  std::int64_t begin;
  std::int64_t end;
};

/// The tensor as images of `pixels` pixels, and its division into tiles for blocks. A tile has some
/// pixels, with all their channels or with as many as fit together with the surrounding channels.
struct Tiling {
  std::int64_t images;
  std::int64_t pixels;
  std::int64_t channels;
  /// The distance between channels or pixels, in elements.
  std::int64_t channel_step;
  std::int64_t pixel_step;
  unsigned tile_pixels;
  unsigned tile_channels;
  /// The number of tiles in an image.
  unsigned pixel_tiles;
  unsigned channel_tiles;
};

/// The work of a block; `first` is the position of its first pixel's channel 0.
struct Tile {
  std::int64_t first;
  unsigned pixels;
  Run channels;
};

struct Formula {
  int radius;
  float bias;
  float alpha;
  float beta;
  /// 2 * alpha * beta.
  float slope;
};

__device__ Tile tile_of_block(const Tiling& tiling) {
  const unsigned strip = blockIdx.x / tiling.pixel_tiles;
  const unsigned image = strip / tiling.channel_tiles;
  const std::int64_t pixel =
      std::int64_t{blockIdx.x - strip * tiling.pixel_tiles} * tiling.tile_pixels;
  const std::int64_t channel =
      std::int64_t{strip - image * tiling.channel_tiles} * tiling.tile_channels;
  return {image * tiling.pixels * tiling.channels + pixel * tiling.pixel_step,
          static_cast<unsigned>(min(std::int64_t{tiling.tile_pixels}, tiling.pixels - pixel)),
          {channel, min(channel + tiling.tile_channels, tiling.channels)}};
}

/// The run extended by the channels that are at most `distance` away.
__device__ Run widened_by(const Run& run, std::int64_t distance, std::int64_t channels) {
  return {max(run.begin - distance, std::int64_t{0}), min(run.end + distance, channels)};
}

/// An array in shared memory for the channels of a run.
struct Shared {
  float* values;
  Run run;
  /// The distance between channels or pixels.
  unsigned channel_step;
  unsigned pixel_step;

  [[nodiscard]] __device__ float& at(std::int64_t channel, unsigned pixel) const {
    return values[static_cast<unsigned>(channel - run.begin) * channel_step + pixel * pixel_step];
  }
};

/// Uses the tensor's order.
__device__ Shared shared_of(float* values, const Tiling& tiling, const Tile& tile, const Run& run) {
  return tiling.channel_step == 1
             ? Shared{values, run, 1, static_cast<unsigned>(run.end - run.begin)}
             : Shared{values, run, tile.pixels, 1};
}

/// Calls body(channel, pixel, place in the tensor) for this lane's elements of a run; neighbouring
/// lanes have adjacent elements.
template <class Body>
__device__ void for_elements(const Tiling& tiling, const Tile& tile, const Run& run,
                             const Body& body) {
  const auto length = static_cast<unsigned>(run.end - run.begin);
  const bool by_pixel = tiling.channel_step == 1;
  const unsigned rows = by_pixel ? tile.pixels : length;
  for (Walk walk(by_pixel ? length : tile.pixels, threadIdx.x, kLanes); walk.row() < rows;
       walk.advance()) {
    const std::int64_t channel = run.begin + (by_pixel ? walk.column() : walk.row());
    const unsigned pixel = by_pixel ? walk.row() : walk.column();
    body(channel, pixel, tile.first + channel * tiling.channel_step + pixel * tiling.pixel_step);
  }
}

/// The sum over the array's channels that are at most `radius` away, from the lowest on.
__device__ float sum_around(const Shared& array, std::int64_t channel, unsigned pixel, int radius,
                            std::int64_t channels) {
  const Run run = widened_by({channel, channel + 1}, radius, channels);
  const float* from = &array.at(run.begin, pixel);
  float sum = 0.0F;
  for (auto left = static_cast<int>(run.end - run.begin); left > 0; --left) {
    sum += *from;
    from += array.channel_step;
  }
  return sum;
}

/// value^-beta of a positive value. Common exponents need no logarithm.
__device__ float to_minus_beta(float value, float beta) {
  if (beta == 0.5F) {
    return rsqrtf(value);
  }
  if (beta == 0.75F) {
    const float root = rsqrtf(value);
    return root * sqrtf(root);
  }
  return expf(-beta * logf(value));
}

template <class T>
__device__ void share_squares(const Tiling& tiling, const Tile& tile, const Shared& squares,
                              const T* x) {
  for_elements(tiling, tile, squares.run,
               [&](std::int64_t channel, unsigned pixel, std::int64_t place) {
                 const float value = widened(x[place]);
                 squares.at(channel, pixel) = value * value;
               });
}

template <class T>
__global__ void lrn_kernel(Tiling tiling, Formula formula, const T* x, T* y) {
  BENCH_SHARED(float, square_values[kPlaces]);
  const Tile tile = tile_of_block(tiling);
  const Shared squares = shared_of(square_values, tiling, tile,
                                   widened_by(tile.channels, formula.radius, tiling.channels));
  share_squares(tiling, tile, squares, x);
  __syncthreads();
  for_elements(
      tiling, tile, tile.channels, [&](std::int64_t channel, unsigned pixel, std::int64_t place) {
        const float sum = sum_around(squares, channel, pixel, formula.radius, tiling.channels);
        const float divisor = formula.bias + formula.alpha * sum;
        y[place] = narrowed<T>(widened(x[place]) * to_minus_beta(divisor, formula.beta));
      });
}

/// dx_c = dy_c d_c^-beta - 2 alpha beta x_c sum over the channels i near c of
/// dy_i x_i d_i^(-beta-1), with the divisor d.
template <class T>
__global__ void lrn_backward_kernel(Tiling tiling, Formula formula, const T* dy, const T* x,
                                    T* dx) {
  BENCH_SHARED(float, square_values[kPlaces]);
  BENCH_SHARED(float, term_values[kPlaces]);
  BENCH_SHARED(float, direct_values[kPlaces]);
  const Tile tile = tile_of_block(tiling);
  const Run near = widened_by(tile.channels, formula.radius, tiling.channels);
  const Shared squares =
      shared_of(square_values, tiling, tile, widened_by(near, formula.radius, tiling.channels));
  const Shared terms = shared_of(term_values, tiling, tile, near);
  const Shared direct = shared_of(direct_values, tiling, tile, near);
  share_squares(tiling, tile, squares, x);
  __syncthreads();
  for_elements(tiling, tile, near, [&](std::int64_t channel, unsigned pixel, std::int64_t place) {
    const float sum = sum_around(squares, channel, pixel, formula.radius, tiling.channels);
    const float divisor = formula.bias + formula.alpha * sum;
    const float value = widened(dy[place]) * to_minus_beta(divisor, formula.beta);
    direct.at(channel, pixel) = value;
    terms.at(channel, pixel) = value * widened(x[place]) / divisor;
  });
  __syncthreads();
  for_elements(
      tiling, tile, tile.channels, [&](std::int64_t channel, unsigned pixel, std::int64_t place) {
        const float sum = sum_around(terms, channel, pixel, formula.radius, tiling.channels);
        dx[place] =
            narrowed<T>(direct.at(channel, pixel) - formula.slope * widened(x[place]) * sum);
      });
}

/// The fewest pixels of a tile: in nchw they are adjacent in memory.
std::int64_t fewest_pixels(const View& view) {
  constexpr std::int64_t kSideBySide = 32;
  return view.order == Order::nhwc ? 1 : std::min(view.spatial, kSideBySide);
}

/// `around` is the number of channels that a tile has in addition to those it writes.
Tiling tiling_of(const View& view, std::int64_t around) {
  const bool nhwc = view.order == Order::nhwc;
  Tiling tiling{.images = nhwc ? 1 : view.batch,
                .pixels = nhwc ? view.batch * view.spatial : view.spatial,
                .channels = view.channels,
                .channel_step = nhwc ? 1 : view.spatial,
                .pixel_step = nhwc ? view.channels : 1,
                .tile_pixels = 0,
                .tile_channels = 0,
                .pixel_tiles = 0,
                .channel_tiles = 0};
  std::int64_t pixels = fewest_pixels(view);
  std::int64_t channels = view.channels;
  if (lrn_may_overwrite(view)) {
    pixels = std::min(tiling.pixels, kPlaces / channels / pixels * pixels);
  } else {
    // Prefer few pixels to tiles in which most channels serve only as neighbours.
    while (pixels > 1 && kPlaces / pixels < 2 * around) {
      pixels /= 2;
    }
    channels = std::min(view.channels, kPlaces / pixels - around);
    check(channels > 0, "lrn: the radius is too large");
    const std::int64_t tiles = blocks_for(view.channels, channels);
    channels = (view.channels + tiles - 1) / tiles;
  }
  tiling.tile_pixels = static_cast<unsigned>(pixels);
  tiling.tile_channels = static_cast<unsigned>(channels);
  tiling.pixel_tiles = blocks_for(tiling.pixels, pixels);
  tiling.channel_tiles = blocks_for(view.channels, channels);
  return tiling;
}

LaunchShape shape_for(const char* name, const Tiling& tiling) {
  const std::int64_t blocks = tiling.images * tiling.pixel_tiles * tiling.channel_tiles;
  return {name, dim3(blocks_for(blocks, 1)), dim3(kLanes)};
}

/// The radius, at most the number of channels.
std::int64_t radius_of(const View& view, const LrnAttributes& attributes) {
  return std::min(attributes.radius, view.channels - 1);
}

Formula formula_of(const View& view, const LrnAttributes& attributes) {
  return {.radius = static_cast<int>(radius_of(view, attributes)),
          .bias = static_cast<float>(attributes.bias),
          .alpha = static_cast<float>(attributes.alpha),
          .beta = static_cast<float>(attributes.beta),
          .slope = static_cast<float>(2 * attributes.alpha * attributes.beta)};
}

}  // namespace

bool lrn_may_overwrite(const View& view) { return view.channels * fewest_pixels(view) <= kPlaces; }

void lrn(cudaStream_t stream, const Lrn& args) {
  const Tiling tiling = tiling_of(args.view, 2 * radius_of(args.view, args.attributes));
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(stream, shape_for("lrn", tiling), lrn_kernel<T>, tiling,
           formula_of(args.view, args.attributes), static_cast<const T*>(args.x),
           static_cast<T*>(args.y));
  });
}

void lrn_backward(cudaStream_t stream, const LrnBackward& args) {
  const Tiling tiling = tiling_of(args.view, 4 * radius_of(args.view, args.attributes));
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(stream, shape_for("lrn_backward", tiling), lrn_backward_kernel<T>, tiling,
           formula_of(args.view, args.attributes), static_cast<const T*>(args.dy),
           static_cast<const T*>(args.x), static_cast<T*>(args.dx));
  });
}

}  // namespace bench::cuda
