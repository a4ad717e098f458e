// The passes of winograd(). Compiled once per instruction set: see winograd_avx2.cc.

namespace bench::cpu::BENCH_WINOGRAD_TARGET {
namespace {

template <class T>
BENCH_TARGET void transform_input_tile(const WinogradShape& shape, const WinogradCorner& corner,
                                       const T* x, float* to, std::int64_t step) {
  const std::int64_t top = corner.row - shape.pad_top;
  const std::int64_t left = corner.column - shape.pad_left;
  const bool inside =
      top >= 0 && left >= 0 && top + kSide <= shape.height && left + kSide <= shape.width;
  const std::int64_t plane = shape.height * shape.width * kLanes;
  x += corner.image * shape.in_blocks * plane;
  for (std::int64_t block = 0; block < shape.in_blocks; ++block) {
    Vector d[kSide * kSide];
    Vector half[kSide * kSide];
    if (inside) {
      const T* row = x + (top * shape.width + left) * kLanes;
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) {
#pragma GCC unroll 6
        for (int j = 0; j < kSide; ++j) {
          d[i * kSide + j] = load(row + (i * shape.width + j) * kLanes);
        }
      }
    } else {
      for (int i = 0; i < kSide; ++i) {
        for (int j = 0; j < kSide; ++j) {
          const std::int64_t row = top + i;
          const std::int64_t column = left + j;
          const bool in = row >= 0 && row < shape.height && column >= 0 && column < shape.width;
          d[i * kSide + j] = in ? load(x + (row * shape.width + column) * kLanes) : zeros();
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
      store(to + point * step, d[point]);
    }
    x += plane;
    to += kLanes;
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
BENCH_TARGET void multiply(const Factors& factors, float* to, std::int64_t to_row) {
  Vector sums[kRows][kVectors];
#pragma GCC unroll 6
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[row][v] = zeros();
    }
  }
  const std::int64_t block = factors.channels * kLanes;
  const float* filters = factors.filters;
  for (std::int64_t channel = 0; channel < factors.channels; ++channel) {
    Vector filter[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      filter[v] = load(filters + v * block);
    }
#pragma GCC unroll 6
    for (int row = 0; row < kRows; ++row) {
      const Vector input = all(factors.input[row * factors.row + channel]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[row][v] = mul_add(input, filter[v], sums[row][v]);
      }
    }
    filters += kLanes;
  }
#pragma GCC unroll 6
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      store(to + row * to_row + v * kLanes, sums[row][v]);
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
template <class T>
BENCH_TARGET_INLINE Vector finish(const Winograd& args, Vector y, Vector bias,
                                  std::int64_t offset) {
  y = add(y, bias);
  if (args.residual != nullptr) {
    y = add(y, load(static_cast<const T*>(args.residual) + offset));
  }
  if (args.lower) {
    y = larger(all(*args.lower), y);
  }
  return args.upper ? smaller(all(*args.upper), y) : y;
}

template <class T>
BENCH_TARGET void write_tile(const Winograd& args, const WinogradGroup& group, std::int64_t tile,
                             std::int64_t block, int vector) {
  const WinogradShape& shape = args.plan.shape;
  const WinogradCorner corner = corner_of(shape, group.first + tile);
  const float* from = group.products + tile * group.product_row + vector * kLanes;
  Vector m[kSide * kSide];
  Vector half[kOutputs * kSide];
#pragma GCC unroll 36
  for (int point = 0; point < kWinogradPoints; ++point) {
    m[point] = load(from + point * group.capacity * group.product_row);
  }
#pragma GCC unroll 6
  for (int j = 0; j < kSide; ++j) {
    transform_output(m + j, half + j, kSide, kSide);
  }
  const Vector bias = args.bias == nullptr ? zeros() : load(args.bias + block * kLanes);
  const std::int64_t rows = std::min<std::int64_t>(kOutputs, shape.out_height - corner.row);
  const std::int64_t columns = std::min<std::int64_t>(kOutputs, shape.out_width - corner.column);
  for (std::int64_t i = 0; i < rows; ++i) {
    Vector y[kOutputs];
    transform_output(half + i * kSide, y, 1, 1);
    const std::int64_t row =
        ((corner.image * shape.out_blocks + block) * shape.out_height + corner.row + i) *
            shape.out_width +
        corner.column;
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t offset = (row + j) * kLanes;
      store(static_cast<T*>(args.y) + offset, finish<T>(args, y[j], bias, offset));
    }
  }
}

/// Vectors of output channels from `block` on.
template <class T, int kVectors>
void convolve_blocks(const Winograd& args, const WinogradGroup& group, const float* filters,
                     std::int64_t block) {
  const WinogradShape& shape = args.plan.shape;
  const std::int64_t channels = shape.in_blocks * kLanes;
  for (std::int64_t point = 0; point < kWinogradPoints; ++point) {
    multiply_group<kVectors>(
        group,
        {.input = group.input + point * group.capacity * group.row,
         .row = group.row,
         .filters = filters + (point * shape.out_blocks + block) * channels * kLanes,
         .channels = channels},
        group.products + point * group.capacity * group.product_row);
  }
  for (std::int64_t tile = 0; tile < group.count; ++tile) {
    for (int v = 0; v < kVectors; ++v) {
      write_tile<T>(args, group, tile, block + v, v);
    }
  }
}

using Convolve = void (*)(const Winograd&, const WinogradGroup&, const float*, std::int64_t);
template <class T, int... kFewer>
constexpr std::array<Convolve, sizeof...(kFewer)> each_convolve(
    std::integer_sequence<int, kFewer...> /*numbers*/) {
  return {convolve_blocks<T, kFewer + 1>...};
}
/// convolve_blocks() of 1 to kMostVectors vectors.
template <class T>
inline constexpr auto kConvolve = each_convolve<T>(std::make_integer_sequence<int, kMostVectors>());

template <class T>
BENCH_TARGET void transform_filters(const WinogradFilterBlocks& filters, std::int64_t out_block,
                                    std::int64_t in_block, float* transformed) {
  const bool forward = filters.order == WinogradFilters::forward;
  constexpr std::int64_t kTapElements = kLanes * kLanes;
  const std::int64_t block = forward ? out_block * filters.in_blocks + in_block
                                     : in_block * filters.out_blocks + out_block;
  const T* from = static_cast<const T*>(filters.data) + block * kTaps * kTaps * kTapElements;
  const std::int64_t channels = filters.in_blocks * kLanes;
  float* to = transformed + (out_block * channels + in_block * kLanes) * kLanes;
  for (std::int64_t in = 0; in < kLanes; ++in) {
    Vector g[kTaps * kTaps];
    Vector half[kSide * kTaps];
    Vector whole[kSide * kSide];
#pragma GCC unroll 9
    for (int tap = 0; tap < kTaps * kTaps; ++tap) {
      const std::ptrdiff_t read = forward ? tap : kTaps * kTaps - 1 - tap;
      g[tap] = load(from + read * kTapElements + in * kLanes);
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
      store(to + point * filters.out_blocks * channels * kLanes, whole[point]);
    }
    to += kLanes;
  }
}

template <class T>
void convolve_group(const Winograd& args, const WinogradGroup& group, const float* filters,
                    Range out_blocks) {
  for (std::int64_t tile = 0; tile < group.count; ++tile) {
    transform_input_tile(args.plan.shape, corner_of(args.plan.shape, group.first + tile),
                         static_cast<const T*>(args.x), group.input + tile * group.row,
                         group.capacity * group.row);
  }
  for (std::int64_t block = out_blocks.begin; block < out_blocks.end; block += kMostVectors) {
    const std::int64_t vectors = std::min<std::int64_t>(out_blocks.end - block, kMostVectors);
    kConvolve<T>[static_cast<std::size_t>(vectors - 1)](args, group, filters, block);
  }
}

}  // namespace
}  // namespace bench::cpu::BENCH_WINOGRAD_TARGET
