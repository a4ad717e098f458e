#include "kernels/cpu/winograd_passes.h"

#include <algorithm>

#include "models/base/errors.h"

#if defined(__x86_64__)
#include "kernels/cpu/winograd_transforms.h"
#endif

namespace bench::cpu {

namespace {

/// Tiles along an axis.
std::int64_t tiles_along(std::int64_t outputs) {
  return (outputs + kWinogradTile - 1) / kWinogradTile;
}

}  // namespace

WinogradCorner corner_of(const WinogradShape& shape, std::int64_t tile) {
  const std::int64_t wide = tiles_along(shape.out_width);
  const std::int64_t high = tiles_along(shape.out_height);
  const std::int64_t within = tile % (high * wide);
  return {.image = tile / (high * wide),
          .row = within / wide * kWinogradTile,
          .column = within % wide * kWinogradTile};
}

std::int64_t tiles_of(const WinogradShape& shape) {
  return shape.batch * tiles_along(shape.out_height) * tiles_along(shape.out_width);
}

#if defined(__x86_64__)

BENCH_AVX512 void transform_input_tile(const WinogradShape& shape, const WinogradCorner& corner,
                                       const float* x, float* to, std::int64_t step) {
  const std::int64_t top = corner.row - shape.pad_top;
  const std::int64_t left = corner.column - shape.pad_left;
  const bool inside =
      top >= 0 && left >= 0 && top + kSide <= shape.height && left + kSide <= shape.width;
  const std::int64_t plane = shape.height * shape.width * kWinogradLanes;
  x += corner.image * shape.in_blocks * plane;
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
      _mm512_storeu_ps(to + point * step, d[point]);
    }
    x += plane;
    to += kWinogradLanes;
  }
}

namespace {

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
  if (args.lower) {
    y = _mm512_mask_max_ps(y, kAll, vector_of(*args.lower), y);
  }
  return args.upper ? _mm512_mask_min_ps(y, kAll, vector_of(*args.upper), y) : y;
}

BENCH_AVX512 void write_tile(const Winograd& args, const WinogradGroup& group, std::int64_t tile,
                             std::int64_t block, int vector) {
  const WinogradShape& shape = args.plan.shape;
  const WinogradCorner corner = corner_of(shape, group.first + tile);
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

BENCH_AVX512 void transform_filters(const WinogradFilterBlocks& filters, std::int64_t out_block,
                                    std::int64_t in_block, float* transformed) {
  const bool forward = filters.order == WinogradFilters::forward;
  constexpr std::int64_t kTapFloats = kWinogradLanes * kWinogradLanes;
  const std::int64_t block = forward ? out_block * filters.in_blocks + in_block
                                     : in_block * filters.out_blocks + out_block;
  const float* from = filters.data + block * kTaps * kTaps * kTapFloats;
  const std::int64_t channels = filters.in_blocks * kWinogradLanes;
  float* to = transformed + (out_block * channels + in_block * kWinogradLanes) * kWinogradLanes;
  for (std::int64_t in = 0; in < kWinogradLanes; ++in) {
    __m512 g[kTaps * kTaps];
    __m512 half[kSide * kTaps];
    __m512 whole[kSide * kSide];
#pragma GCC unroll 9
    for (int tap = 0; tap < kTaps * kTaps; ++tap) {
      const std::ptrdiff_t read = forward ? tap : kTaps * kTaps - 1 - tap;
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
      _mm512_storeu_ps(to + point * filters.out_blocks * channels * kWinogradLanes, whole[point]);
    }
    to += kWinogradLanes;
  }
}

void convolve_group(const Winograd& args, const WinogradGroup& group, const float* filters,
                    Range out_blocks) {
  for (std::int64_t tile = 0; tile < group.count; ++tile) {
    transform_input_tile(args.plan.shape, corner_of(args.plan.shape, group.first + tile), args.x,
                         group.input + tile * group.row, group.capacity * group.row);
  }
  std::int64_t block = out_blocks.begin;
  for (; block + kWinogradVectors <= out_blocks.end; block += kWinogradVectors) {
    convolve_blocks<kWinogradVectors>(args, group, filters, block);
  }
  using Convolve = void (*)(const Winograd&, const WinogradGroup&, const float*, std::int64_t);
  constexpr Convolve kRest[] = {convolve_blocks<1>, convolve_blocks<2>, convolve_blocks<3>};
  if (block < out_blocks.end) {
    kRest[out_blocks.end - block - 1](args, group, filters, block);
  }
}

#else

void transform_input_tile(const WinogradShape& /*shape*/, const WinogradCorner& /*corner*/,
                          const float* /*x*/, float* /*to*/, std::int64_t /*step*/) {
  throw InternalError("winograd: needs AVX-512");
}

void transform_filters(const WinogradFilterBlocks& /*filters*/, std::int64_t /*out_block*/,
                       std::int64_t /*in_block*/, float* /*transformed*/) {
  throw InternalError("winograd: needs AVX-512");
}

void convolve_group(const Winograd& /*args*/, const WinogradGroup& /*group*/,
                    const float* /*filters*/, Range /*out_blocks*/) {
  throw InternalError("winograd: needs AVX-512");
}

#endif

}  // namespace bench::cpu
