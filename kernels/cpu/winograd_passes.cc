#include "kernels/cpu/winograd_passes.h"

#include <algorithm>

#include "models/base/errors.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench::cpu {

#if defined(__x86_64__)

// Intrinsics, because sums and tiles are arrays of vectors.
#define BENCH_AVX512 __attribute__((target("avx512f")))
#define BENCH_AVX512_INLINE BENCH_AVX512 __attribute__((always_inline)) inline

namespace {

constexpr int kSide = 6;
constexpr int kOutputs = 4;
constexpr int kTaps = 3;

BENCH_AVX512_INLINE __m512 vector_of(float value) { return _mm512_set1_ps(value); }

// The points of the interpolation are 0, A, -A, B, -B and infinity. For these A and B the rounding
// errors are a third of those for the usual 1 and 2.
constexpr float kA = 0.75F;
constexpr float kB = 1.5F;
constexpr float kA2 = kA * kA;
constexpr float kB2 = kB * kB;

/// B^T d of Lavin and Gray. The elements are `step` apart.
BENCH_AVX512_INLINE void transform_input(const __m512* d, __m512* to, int step) {
  const __m512 a2 = vector_of(kA2);
  const __m512 b2 = vector_of(kB2);
  const __m512 sum = vector_of(kA2 + kB2);
  const __m512 product = vector_of(kA2 * kB2);
  const __m512 d1 = d[step];
  const __m512 d2 = d[2 * step];
  const __m512 d3 = d[3 * step];
  const __m512 d4 = d[4 * step];
  const __m512 even_a = _mm512_fnmadd_ps(b2, d2, d4);
  const __m512 odd_a = _mm512_fnmadd_ps(b2, d1, d3);
  const __m512 even_b = _mm512_fnmadd_ps(a2, d2, d4);
  const __m512 odd_b = _mm512_fnmadd_ps(a2, d1, d3);
  to[0] = _mm512_fmadd_ps(product, d[0], _mm512_fnmadd_ps(sum, d2, d4));
  to[step] = _mm512_fmadd_ps(vector_of(kA), odd_a, even_a);
  to[2 * step] = _mm512_fnmadd_ps(vector_of(kA), odd_a, even_a);
  to[3 * step] = _mm512_fmadd_ps(vector_of(kB), odd_b, even_b);
  to[4 * step] = _mm512_fnmadd_ps(vector_of(kB), odd_b, even_b);
  to[5 * step] = _mm512_fmadd_ps(product, d1, _mm512_fnmadd_ps(sum, d3, d[5 * step]));
}

/// G g.
BENCH_AVX512_INLINE void transform_filter(const __m512* g, __m512* to, int from_step, int to_step) {
  constexpr float kOfA = 1 / (2 * kA2 * (kA2 - kB2));
  constexpr float kOfB = 1 / (2 * kB2 * (kB2 - kA2));
  const __m512 g0 = g[0];
  const __m512 g1 = g[from_step];
  const __m512 g2 = g[2 * from_step];
  const __m512 even_a =
      _mm512_fmadd_ps(vector_of(kA2 * kOfA), g2, _mm512_mul_ps(vector_of(kOfA), g0));
  const __m512 even_b =
      _mm512_fmadd_ps(vector_of(kB2 * kOfB), g2, _mm512_mul_ps(vector_of(kOfB), g0));
  to[0] = _mm512_mul_ps(vector_of(1 / (kA2 * kB2)), g0);
  to[to_step] = _mm512_fmadd_ps(vector_of(kA * kOfA), g1, even_a);
  to[2 * to_step] = _mm512_fnmadd_ps(vector_of(kA * kOfA), g1, even_a);
  to[3 * to_step] = _mm512_fmadd_ps(vector_of(kB * kOfB), g1, even_b);
  to[4 * to_step] = _mm512_fnmadd_ps(vector_of(kB * kOfB), g1, even_b);
  to[5 * to_step] = g2;
}

/// A^T m.
BENCH_AVX512_INLINE void transform_output(const __m512* m, __m512* to, int from_step, int to_step) {
  const __m512 sum_a = _mm512_add_ps(m[from_step], m[2 * from_step]);
  const __m512 odd_a = _mm512_sub_ps(m[from_step], m[2 * from_step]);
  const __m512 sum_b = _mm512_add_ps(m[3 * from_step], m[4 * from_step]);
  const __m512 odd_b = _mm512_sub_ps(m[3 * from_step], m[4 * from_step]);
  to[0] = _mm512_add_ps(_mm512_add_ps(m[0], sum_a), sum_b);
  to[to_step] = _mm512_fmadd_ps(vector_of(kB), odd_b, _mm512_mul_ps(vector_of(kA), odd_a));
  to[2 * to_step] = _mm512_fmadd_ps(vector_of(kB2), sum_b, _mm512_mul_ps(vector_of(kA2), sum_a));
  to[3 * to_step] = _mm512_fmadd_ps(vector_of(kB2 * kB), odd_b,
                                    _mm512_fmadd_ps(vector_of(kA2 * kA), odd_a, m[5 * from_step]));
}

/// The first output of a tile.
struct Corner {
  std::int64_t image = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

Corner corner_of(const WinogradPlan& plan, std::int64_t tile) {
  const std::int64_t of_image = plan.tiles_high * plan.tiles_wide;
  const std::int64_t within = tile % of_image;
  return {.image = tile / of_image,
          .row = within / plan.tiles_wide * kWinogradTile,
          .column = within % plan.tiles_wide * kWinogradTile};
}

BENCH_AVX512 void transform_tile(const Winograd& args, const WinogradGroup& group,
                                 std::int64_t tile) {
  const WinogradShape& shape = args.plan.shape;
  const Corner corner = corner_of(args.plan, group.first + tile);
  const std::int64_t top = corner.row - shape.pad_top;
  const std::int64_t left = corner.column - shape.pad_left;
  const bool inside =
      top >= 0 && left >= 0 && top + kSide <= shape.height && left + kSide <= shape.width;
  const std::int64_t plane = shape.height * shape.width * kWinogradLanes;
  const float* x = args.x + corner.image * shape.in_blocks * plane;
  float* to = group.input + tile * group.row;
  for (std::int64_t block = 0; block < shape.in_blocks; ++block) {
    __m512 d[kSide * kSide];
    __m512 half[kSide * kSide];
    if (inside) {
      const float* row = x + (top * shape.width + left) * kWinogradLanes;
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) {
#pragma GCC unroll 6
        for (int j = 0; j < kSide; ++j) {
          d[i * kSide + j] = _mm512_loadu_ps(row + (i * shape.width + j) * kWinogradLanes);
        }
      }
    } else {
      for (int i = 0; i < kSide; ++i) {
        for (int j = 0; j < kSide; ++j) {
          const std::int64_t row = top + i;
          const std::int64_t column = left + j;
          const bool in = row >= 0 && row < shape.height && column >= 0 && column < shape.width;
          d[i * kSide + j] = in ? _mm512_loadu_ps(x + (row * shape.width + column) * kWinogradLanes)
                                : _mm512_setzero_ps();
        }
      }
    }
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) {
      transform_input(d + j, half + j, kSide);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) {
      transform_input(half + i * kSide, d + i * kSide, 1);
    }
#pragma GCC unroll 36
    for (int point = 0; point < kWinogradPoints; ++point) {
      _mm512_storeu_ps(to + point * group.capacity * group.row, d[point]);
    }
    x += plane;
    to += kWinogradLanes;
  }
}

/// The factors of a product: rows of the input and vectors of filters.
struct Factors {
  const float* input = nullptr;
  std::int64_t row = 0;
  const float* filters = nullptr;
  std::int64_t channels = 0;
};

/// The products of kRows tiles with kVectors vectors of output channels, added over the input
/// channels.
template <int kRows, int kVectors>
BENCH_AVX512 void multiply(const Factors& factors, float* to, std::int64_t to_row) {
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 6
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[row][v] = _mm512_setzero_ps();
    }
  }
  const std::int64_t block = factors.channels * kWinogradLanes;
  const float* filters = factors.filters;
  for (std::int64_t channel = 0; channel < factors.channels; ++channel) {
    __m512 filter[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      filter[v] = _mm512_loadu_ps(filters + v * block);
    }
#pragma GCC unroll 6
    for (int row = 0; row < kRows; ++row) {
      const __m512 input = vector_of(factors.input[row * factors.row + channel]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[row][v] = _mm512_fmadd_ps(input, filter[v], sums[row][v]);
      }
    }
    filters += kWinogradLanes;
  }
#pragma GCC unroll 6
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(to + row * to_row + v * kWinogradLanes, sums[row][v]);
    }
  }
}

/// All tiles of a group at one point.
template <int kVectors>
void multiply_group(const WinogradGroup& group, Factors factors, float* to) {
  std::int64_t tile = 0;
  for (; tile + kWinogradRows <= group.count; tile += kWinogradRows) {
    multiply<kWinogradRows, kVectors>(factors, to, group.product_row);
    factors.input += kWinogradRows * group.row;
    to += kWinogradRows * group.product_row;
  }
  using Multiply = void (*)(const Factors&, float*, std::int64_t);
  constexpr Multiply kRest[] = {multiply<1, kVectors>, multiply<2, kVectors>, multiply<3, kVectors>,
                                multiply<4, kVectors>, multiply<5, kVectors>};
  if (tile < group.count) {
    kRest[group.count - tile - 1](factors, to, group.product_row);
  }
}

/// The epilogue of one output; a NaN stays one, because it is the second operand.
BENCH_AVX512_INLINE __m512 finish(const Winograd& args, __m512 y, __m512 bias,
                                  std::int64_t offset) {
  y = _mm512_add_ps(y, bias);
  if (args.residual != nullptr) {
    y = _mm512_add_ps(y, _mm512_loadu_ps(args.residual + offset));
  }
  // With a mask: GCC 12 warns about the plain forms.
  constexpr __mmask16 kAll = 0xFFFF;
  if (args.least) {
    y = _mm512_mask_max_ps(y, kAll, vector_of(*args.least), y);
  }
  return args.most ? _mm512_mask_min_ps(y, kAll, vector_of(*args.most), y) : y;
}

BENCH_AVX512 void write_tile(const Winograd& args, const WinogradGroup& group, std::int64_t tile,
                             std::int64_t block, int vector) {
  const WinogradShape& shape = args.plan.shape;
  const Corner corner = corner_of(args.plan, group.first + tile);
  const float* from = group.products + tile * group.product_row + vector * kWinogradLanes;
  __m512 m[kSide * kSide];
  __m512 half[kOutputs * kSide];
#pragma GCC unroll 36
  for (int point = 0; point < kWinogradPoints; ++point) {
    m[point] = _mm512_loadu_ps(from + point * group.capacity * group.product_row);
  }
#pragma GCC unroll 6
  for (int j = 0; j < kSide; ++j) {
    transform_output(m + j, half + j, kSide, kSide);
  }
  const __m512 bias = args.bias == nullptr ? _mm512_setzero_ps()
                                           : _mm512_loadu_ps(args.bias + block * kWinogradLanes);
  const std::int64_t rows = std::min<std::int64_t>(kOutputs, shape.out_height - corner.row);
  const std::int64_t columns = std::min<std::int64_t>(kOutputs, shape.out_width - corner.column);
  for (std::int64_t i = 0; i < rows; ++i) {
    __m512 y[kOutputs];
    transform_output(half + i * kSide, y, 1, 1);
    const std::int64_t row =
        ((corner.image * shape.out_blocks + block) * shape.out_height + corner.row + i) *
            shape.out_width +
        corner.column;
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t offset = (row + j) * kWinogradLanes;
      _mm512_storeu_ps(args.y + offset, finish(args, y[j], bias, offset));
    }
  }
}

/// Vectors of output channels from `block` on.
template <int kVectors>
void convolve_blocks(const Winograd& args, const WinogradGroup& group, const float* filters,
                     std::int64_t block) {
  const WinogradShape& shape = args.plan.shape;
  const std::int64_t channels = shape.in_blocks * kWinogradLanes;
  for (std::int64_t point = 0; point < kWinogradPoints; ++point) {
    multiply_group<kVectors>(
        group,
        {.input = group.input + point * group.capacity * group.row,
         .row = group.row,
         .filters = filters + (point * shape.out_blocks + block) * channels * kWinogradLanes,
         .channels = channels},
        group.products + point * group.capacity * group.product_row);
  }
  for (std::int64_t tile = 0; tile < group.count; ++tile) {
    for (int v = 0; v < kVectors; ++v) {
      write_tile(args, group, tile, block + v, v);
    }
  }
}

}  // namespace

BENCH_AVX512 void transform_filters(const Winograd& args, std::int64_t out_block,
                                    std::int64_t in_block, float* transformed) {
  const WinogradShape& shape = args.plan.shape;
  const bool forward = args.order == WinogradFilters::forward;
  constexpr std::int64_t kTapFloats = kWinogradLanes * kWinogradLanes;
  const std::int64_t block =
      forward ? out_block * shape.in_blocks + in_block : in_block * shape.out_blocks + out_block;
  const float* from = args.filters + block * kTaps * kTaps * kTapFloats;
  const std::int64_t channels = shape.in_blocks * kWinogradLanes;
  float* to = transformed + (out_block * channels + in_block * kWinogradLanes) * kWinogradLanes;
  for (std::int64_t in = 0; in < kWinogradLanes; ++in) {
    __m512 g[kTaps * kTaps];
    __m512 half[kSide * kTaps];
    __m512 whole[kSide * kSide];
#pragma GCC unroll 9
    for (int tap = 0; tap < kTaps * kTaps; ++tap) {
      const int read = forward ? tap : kTaps * kTaps - 1 - tap;
      g[tap] = _mm512_loadu_ps(from + read * kTapFloats + in * kWinogradLanes);
    }
#pragma GCC unroll 3
    for (int j = 0; j < kTaps; ++j) {
      transform_filter(g + j, half + j, kTaps, kTaps);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) {
      transform_filter(half + i * kTaps, whole + i * kSide, 1, 1);
    }
#pragma GCC unroll 36
    for (int point = 0; point < kWinogradPoints; ++point) {
      _mm512_storeu_ps(to + point * shape.out_blocks * channels * kWinogradLanes, whole[point]);
    }
    to += kWinogradLanes;
  }
}

void convolve_group(const Winograd& args, const WinogradGroup& group, const float* filters) {
  for (std::int64_t tile = 0; tile < group.count; ++tile) {
    transform_tile(args, group, tile);
  }
  std::int64_t block = 0;
  for (; block + kWinogradVectors <= args.plan.shape.out_blocks; block += kWinogradVectors) {
    convolve_blocks<kWinogradVectors>(args, group, filters, block);
  }
  for (; block < args.plan.shape.out_blocks; ++block) {
    convolve_blocks<1>(args, group, filters, block);
  }
}

#else

void transform_filters(const Winograd& /*args*/, std::int64_t /*out_block*/,
                       std::int64_t /*in_block*/, float* /*transformed*/) {
  throw InternalError("winograd: needs AVX-512");
}

void convolve_group(const Winograd& /*args*/, const WinogradGroup& /*group*/,
                    const float* /*filters*/) {
  throw InternalError("winograd: needs AVX-512");
}

#endif

}  // namespace bench::cpu
