#include "kernels/cuda/gpu/reorder.h"

#include <algorithm>
#include <type_traits>

#include "kernels/cuda/gpu/element.h"
#include "kernels/cuda/gpu/elementwise.h"
#include "kernels/cuda/gpu/walk.h"

namespace bench::cuda {
namespace {

constexpr int kLanes = 256;

/// `count` consecutive row-major matrices, each of which is transposed.
struct Matrices {
  std::int64_t count;
  std::int64_t rows;
  std::int64_t columns;
};

/// The division of a matrix into tiles, one for each block.
struct Tiles {
  unsigned height;
  unsigned width;
  unsigned down;
  unsigned across;
};

Tiles tiles_of(const Matrices& matrices, std::int64_t height, std::int64_t width) {
  return {.height = static_cast<unsigned>(height),
          .width = static_cast<unsigned>(width),
          .down = blocks_for(matrices.rows, height),
          .across = blocks_for(matrices.columns, width)};
}

/// The start of this block's tile.
struct Corner {
  std::int64_t matrix;
  std::int64_t row;
  std::int64_t column;
};

__device__ Corner corner_of_block(const Tiles& tiles) {
  const unsigned strip = blockIdx.x / tiles.across;
  const unsigned matrix = strip / tiles.down;
  return {matrix, std::int64_t{strip - matrix * tiles.down} * tiles.height,
          std::int64_t{blockIdx.x - strip * tiles.across} * tiles.width};
}

/// Converts an element of x to one of y. Both have floating types, or the same type, which may be
/// raw bits.
template <class To, class From>
__device__ To converted(From value) {
  return narrowed<To>(widened(value));
}
template <>
__device__ inline std::uint8_t converted(std::uint8_t value) {
  return value;
}
template <>
__device__ inline std::uint16_t converted(std::uint16_t value) {
  return value;
}
template <>
__device__ inline std::uint32_t converted(std::uint32_t value) {
  return value;
}

/// The side of the tiles of transpose_packs_kernel, in elements; packs have kSide elements.
constexpr int kPackedTile = 64;
constexpr int kSide = 4;
constexpr int kPacks = kPackedTile / kSide;

/// For matrices whose sides are multiples of kSide. Each lane transposes kSide x kSide elements in
/// registers. So global and shared memory are read and written in packs.
template <class From, class To>
__global__ void transpose_packs_kernel(Matrices matrices, Tiles tiles, const From* __restrict__ x,
                                       To* __restrict__ y) {
  // tile[column][pack of rows], where pack p of column c is at place p ^ (c / kSide). So neither
  // the writes (down the columns) nor the reads (along them) have bank conflicts.
  using ToPack = Pack<To, kSide>;
  BENCH_SHARED(ToPack, tile[kPackedTile][kPacks]);
  const Corner corner = corner_of_block(tiles);
  const std::int64_t size = matrices.rows * matrices.columns;
  const int across = static_cast<int>(threadIdx.x) % kPacks;
  const int down = static_cast<int>(threadIdx.x) / kPacks;
  {
    const std::int64_t row = corner.row + down * kSide;
    const std::int64_t column = corner.column + across * kSide;
    if (row < matrices.rows && column < matrices.columns) {
      const From* const from = x + corner.matrix * size + row * matrices.columns + column;
      Pack<From, kSide> lines[kSide];
      for (int i = 0; i < kSide; ++i) {
        lines[i] = load_pack<kSide>(from + i * matrices.columns);
      }
      for (int c = 0; c < kSide; ++c) {
        Pack<To, kSide> pack;
        for (int i = 0; i < kSide; ++i) {
          pack.values[i] = converted<To>(lines[i].values[c]);
        }
        tile[across * kSide + c][down ^ across] = pack;
      }
    }
  }
  __syncthreads();
  const std::int64_t row = corner.row + across * kSide;
  if (row >= matrices.rows) {
    return;
  }
  for (int c = down; c < kPackedTile; c += kLanes / kPacks) {
    const std::int64_t column = corner.column + c;
    if (column < matrices.columns) {
      store_pack(y + corner.matrix * size + column * matrices.rows + row,
                 tile[c][across ^ (c / kSide)]);
    }
  }
}

/// The most unused elements after a row in a tile of transpose_kernel.
constexpr std::int64_t kMostFree = 8;
constexpr std::int64_t kSquare = 64;
constexpr std::int64_t kTilePlaces = kSquare * (kSquare + kMostFree);

/// The distance between rows of a tile, in elements: an odd number of words, so that a column's
/// elements are in different banks.
template <class T>
__device__ unsigned pitch_of(unsigned width) {
  constexpr unsigned kPerWord = 4 / sizeof(T);
  return ((width + kPerWord - 1) / kPerWord | 1U) * kPerWord;
}

/// For all other matrices. Along both sides of a tile lanes access memory in order, across the ends
/// of short lines too.
template <class From, class To>
__global__ void transpose_kernel(Matrices matrices, Tiles tiles, const From* __restrict__ x,
                                 To* __restrict__ y) {
  BENCH_SHARED(To, tile[kTilePlaces]);
  const Corner corner = corner_of_block(tiles);
  const std::int64_t origin = corner.matrix * matrices.rows * matrices.columns;
  const auto height =
      static_cast<unsigned>(min(std::int64_t{tiles.height}, matrices.rows - corner.row));
  const auto width =
      static_cast<unsigned>(min(std::int64_t{tiles.width}, matrices.columns - corner.column));
  const unsigned pitch = pitch_of<To>(width);
  const From* const from = x + origin + corner.row * matrices.columns + corner.column;
  for (Walk walk(width, threadIdx.x, kLanes); walk.row() < height; walk.advance()) {
    tile[walk.row() * pitch + walk.column()] =
        converted<To>(from[walk.row() * matrices.columns + walk.column()]);
  }
  __syncthreads();
  To* const to = y + origin + corner.column * matrices.rows + corner.row;
  for (Walk walk(height, threadIdx.x, kLanes); walk.row() < width; walk.advance()) {
    to[walk.row() * matrices.rows + walk.column()] = tile[walk.column() * pitch + walk.row()];
  }
}

/// Square tiles for a large matrix. For a narrow one, a tile has the whole short side and much of
/// the long one.
Tiles general_tiles(const Matrices& matrices) {
  const std::int64_t short_width = std::min(matrices.columns, kSquare);
  const std::int64_t height = std::min(matrices.rows, kTilePlaces / (short_width + kMostFree));
  return tiles_of(matrices, height, std::min(matrices.columns, kTilePlaces / height - kMostFree));
}

template <class From, class To>
void transpose(cudaStream_t stream, const Matrices& matrices, const From* x, To* y) {
  const auto run = [&](const char* name, const Tiles& tiles, auto* kernel) {
    const std::int64_t blocks = matrices.count * tiles.down * tiles.across;
    launch(stream, {name, dim3(blocks_for(blocks, 1)), dim3(kLanes)}, kernel, matrices, tiles, x,
           y);
  };
  // For a narrow matrix, a packed tile would be mostly empty.
  constexpr std::int64_t kWideEnough = 32;
  const bool in_packs = sizeof(From) > 1 && matrices.rows % kSide == 0 &&
                        matrices.columns % kSide == 0 && matrices.rows >= kWideEnough &&
                        matrices.columns >= kWideEnough;
  if (in_packs) {
    run("transpose_packs", tiles_of(matrices, kPackedTile, kPackedTile),
        transpose_packs_kernel<From, To>);
  } else {
    run("transpose", general_tiles(matrices), transpose_kernel<From, To>);
  }
}

template <class T>
void transpose_bits(cudaStream_t stream, const Matrices& matrices, const Reorder& args) {
  transpose(stream, matrices, static_cast<const T*>(args.x), static_cast<T*>(args.y));
}

void transpose_same_type(cudaStream_t stream, const Matrices& matrices, const Reorder& args) {
  switch (size_of(args.from)) {
    case sizeof(std::uint8_t):
      return transpose_bits<std::uint8_t>(stream, matrices, args);
    case sizeof(std::uint16_t):
      return transpose_bits<std::uint16_t>(stream, matrices, args);
    case sizeof(std::uint32_t):
      return transpose_bits<std::uint32_t>(stream, matrices, args);
    default:
      throw InternalError(fmt::format("cuda: {} has no transpose", name_of(args.from)));
  }
}

}  // namespace

void reorder(cudaStream_t stream, const Reorder& args) {
  const View& view = args.view;
  if (view.order == args.order || view.channels == 1 || view.spatial == 1) {
    return cast(
        stream,
        {.count = view.elements(), .from = args.from, .x = args.x, .to = args.to, .y = args.y});
  }
  const bool to_nhwc = args.order == Order::nhwc;
  const Matrices matrices{.count = view.batch,
                          .rows = to_nhwc ? view.channels : view.spatial,
                          .columns = to_nhwc ? view.spatial : view.channels};
  if (args.from == args.to) {
    return transpose_same_type(stream, matrices, args);
  }
  with_element(args.from, [&](auto from_tag) {
    with_element(args.to, [&](auto to_tag) {
      using From = typename decltype(from_tag)::type;
      using To = typename decltype(to_tag)::type;
      if constexpr (!std::is_same_v<From, To>) {
        transpose(stream, matrices, static_cast<const From*>(args.x), static_cast<To*>(args.y));
      }
    });
  });
}

}  // namespace bench::cuda
