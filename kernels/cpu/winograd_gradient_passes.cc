#include "kernels/cpu/winograd_gradient_passes.h"

#include "models/base/errors.h"

#if defined(__x86_64__)
#include "kernels/cpu/winograd_transforms.h"
#endif

namespace bench::cpu {

#if defined(__x86_64__)

namespace {

/// The product in registers: input channels times vectors of output channels.
constexpr int kRows = 4;
constexpr int kVectors = 4;

/// The factors of a product over tiles.
struct Factors {
  const float* input = nullptr;
  std::int64_t in_row = 0;
  const float* gradient = nullptr;
  std::int64_t out_row = 0;
  std::int64_t tiles = 0;
};

/// Adds the products of kRows input channels with kColumns vectors of output channels. The vectors
/// of a row are `step` floats apart in `sums`. If `first`, sets them.
template <int kColumns>
BENCH_AVX512 void multiply(const Factors& factors, float* sums, std::int64_t step, bool first) {
  __m512 sum[kRows][kColumns];
#pragma GCC unroll 4
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kColumns; ++v) {
      sum[row][v] =
          first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + v * step + row * kWinogradLanes);
    }
  }
  const float* input = factors.input;
  const float* gradient = factors.gradient;
  for (std::int64_t tile = 0; tile < factors.tiles; ++tile) {
    __m512 columns[kColumns];
#pragma GCC unroll 4
    for (int v = 0; v < kColumns; ++v) {
      columns[v] = _mm512_loadu_ps(gradient + v * kWinogradLanes);
    }
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) {
      const __m512 x = vector_of(input[row]);
#pragma GCC unroll 4
      for (int v = 0; v < kColumns; ++v) {
        sum[row][v] = _mm512_fmadd_ps(x, columns[v], sum[row][v]);
      }
    }
    input += factors.in_row;
    gradient += factors.out_row;
  }
#pragma GCC unroll 4
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kColumns; ++v) {
      _mm512_storeu_ps(sums + v * step + row * kWinogradLanes, sum[row][v]);
    }
  }
}

BENCH_AVX512 void transform_gradient_tile(const WinogradShape& shape, const WinogradCorner& corner,
                                          const float* dy, float* to, std::int64_t step) {
  const std::int64_t plane = shape.out_height * shape.out_width * kWinogradLanes;
  dy += corner.image * shape.out_blocks * plane;
  for (std::int64_t block = 0; block < shape.out_blocks; ++block) {
    __m512 y[kOutputs * kOutputs];
    __m512 half[kSide * kOutputs];
    __m512 whole[kSide * kSide];
    for (int i = 0; i < kOutputs; ++i) {
      for (int j = 0; j < kOutputs; ++j) {
        const std::int64_t row = corner.row + i;
        const std::int64_t column = corner.column + j;
        y[i * kOutputs + j] =
            row < shape.out_height && column < shape.out_width
                ? _mm512_loadu_ps(dy + (row * shape.out_width + column) * kWinogradLanes)
                : _mm512_setzero_ps();
      }
    }
#pragma GCC unroll 4
    for (int j = 0; j < kOutputs; ++j) {
      transpose_output(y + j, half + j, kOutputs, kOutputs);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) {
      transpose_output(half + i * kOutputs, whole + i * kSide, 1, 1);
    }
#pragma GCC unroll 36
    for (int point = 0; point < kWinogradPoints; ++point) {
      _mm512_storeu_ps(to + point * step, whole[point]);
    }
    dy += plane;
    to += kWinogradLanes;
  }
}

}  // namespace

void transform_tile(const WinogradGradient& args, const WinogradChunk& chunk, std::int64_t tile) {
  const WinogradShape& shape = args.plan.shape;
  const WinogradCorner corner = corner_of(shape, chunk.first + tile);
  transform_input_tile(shape, corner, args.x, chunk.input + tile * chunk.in_row,
                       chunk.capacity * chunk.in_row);
  transform_gradient_tile(shape, corner, args.dy, chunk.gradient + tile * chunk.out_row,
                          chunk.capacity * chunk.out_row);
}

void add_products(const WinogradShape& shape, const WinogradChunk& chunk, std::int64_t point,
                  std::int64_t in_block) {
  const std::int64_t channels = shape.in_blocks * kWinogradLanes;
  const std::int64_t step = channels * kWinogradLanes;
  const bool first = chunk.first == 0;
  for (std::int64_t in = in_block * kWinogradLanes; in < (in_block + 1) * kWinogradLanes;
       in += kRows) {
    Factors factors{.input = chunk.input + point * chunk.capacity * chunk.in_row + in,
                    .in_row = chunk.in_row,
                    .gradient = chunk.gradient + point * chunk.capacity * chunk.out_row,
                    .out_row = chunk.out_row,
                    .tiles = chunk.count};
    float* sums = chunk.sums + point * shape.out_blocks * step + in * kWinogradLanes;
    std::int64_t block = 0;
    for (; block + kVectors <= shape.out_blocks; block += kVectors) {
      multiply<kVectors>(factors, sums + block * step, step, first);
      factors.gradient += kVectors * kWinogradLanes;
    }
    for (; block < shape.out_blocks; ++block) {
      multiply<1>(factors, sums + block * step, step, first);
      factors.gradient += kWinogradLanes;
    }
  }
}

BENCH_AVX512 void write_filters(const WinogradGradient& args, const float* sums,
                                std::int64_t out_block, std::int64_t in_block) {
  const WinogradShape& shape = args.plan.shape;
  constexpr std::int64_t kTapFloats = kWinogradLanes * kWinogradLanes;
  const std::int64_t channels = shape.in_blocks * kWinogradLanes;
  const float* from = sums + (out_block * channels + in_block * kWinogradLanes) * kWinogradLanes;
  float* to = args.dw + (out_block * shape.in_blocks + in_block) * kTaps * kTaps * kTapFloats;
  for (std::int64_t in = 0; in < kWinogradLanes; ++in) {
    __m512 u[kSide * kSide];
    __m512 half[kTaps * kSide];
    __m512 g[kTaps * kTaps];
#pragma GCC unroll 36
    for (int point = 0; point < kWinogradPoints; ++point) {
      u[point] = _mm512_loadu_ps(from + point * shape.out_blocks * channels * kWinogradLanes);
    }
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) {
      transpose_filter(u + j, half + j, kSide, kSide);
    }
#pragma GCC unroll 3
    for (int i = 0; i < kTaps; ++i) {
      transpose_filter(half + i * kSide, g + i * kTaps, 1, 1);
    }
#pragma GCC unroll 9
    for (int tap = 0; tap < kTaps * kTaps; ++tap) {
      _mm512_storeu_ps(to + tap * kTapFloats, g[tap]);
    }
    from += kWinogradLanes;
    to += kWinogradLanes;
  }
}

#else

void transform_tile(const WinogradGradient& /*args*/, const WinogradChunk& /*chunk*/,
                    std::int64_t /*tile*/) {
  throw InternalError("winograd: needs AVX-512");
}

void add_products(const WinogradShape& /*shape*/, const WinogradChunk& /*chunk*/,
                  std::int64_t /*point*/, std::int64_t /*in_block*/) {
  throw InternalError("winograd: needs AVX-512");
}

void write_filters(const WinogradGradient& /*args*/, const float* /*sums*/,
                   std::int64_t /*out_block*/, std::int64_t /*in_block*/) {
  throw InternalError("winograd: needs AVX-512");
}

#endif

}  // namespace bench::cpu
