// The passes of winograd_gradient(). Compiled once per instruction set: see winograd_avx2.cc.

namespace bench::cpu::BENCH_WINOGRAD_TARGET {
namespace {

/// The factors of a product over tiles.
struct GradientFactors {
  const float* input = nullptr;
  std::int64_t in_row = 0;
  const float* gradient = nullptr;
  std::int64_t out_row = 0;
  std::int64_t tiles = 0;
};

/// Adds the products of kGradientRows input channels with kColumns vectors of output channels. The
/// vectors of a row are `step` floats apart in `sums`. If `first`, sets them.
template <int kColumns>
BENCH_TARGET void add_products_of(const GradientFactors& factors, float* sums, std::int64_t step,
                                  bool first) {
  Vector sum[kGradientRows][kColumns];
#pragma GCC unroll 4
  for (int row = 0; row < kGradientRows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kColumns; ++v) {
      sum[row][v] = first ? zeros() : load(sums + v * step + row * kLanes);
    }
  }
  const float* input = factors.input;
  const float* gradient = factors.gradient;
  for (std::int64_t tile = 0; tile < factors.tiles; ++tile) {
    Vector columns[kColumns];
#pragma GCC unroll 4
    for (int v = 0; v < kColumns; ++v) {
      columns[v] = load(gradient + v * kLanes);
    }
#pragma GCC unroll 4
    for (int row = 0; row < kGradientRows; ++row) {
      const Vector x = all(input[row]);
#pragma GCC unroll 4
      for (int v = 0; v < kColumns; ++v) {
        sum[row][v] = mul_add(x, columns[v], sum[row][v]);
      }
    }
    input += factors.in_row;
    gradient += factors.out_row;
  }
#pragma GCC unroll 4
  for (int row = 0; row < kGradientRows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kColumns; ++v) {
      store(sums + v * step + row * kLanes, sum[row][v]);
    }
  }
}

template <class T>
BENCH_TARGET void transform_gradient_tile(const WinogradShape& shape, const WinogradCorner& corner,
                                          const T* dy, float* to, std::int64_t step) {
  const std::int64_t plane = shape.out_height * shape.out_width * kLanes;
  dy += corner.image * shape.out_blocks * plane;
  for (std::int64_t block = 0; block < shape.out_blocks; ++block) {
    Vector y[kOutputs * kOutputs];
    Vector half[kSide * kOutputs];
    Vector whole[kSide * kSide];
    for (int i = 0; i < kOutputs; ++i) {
      for (int j = 0; j < kOutputs; ++j) {
        const std::int64_t row = corner.row + i;
        const std::int64_t column = corner.column + j;
        y[i * kOutputs + j] = row < shape.out_height && column < shape.out_width
                                  ? load(dy + (row * shape.out_width + column) * kLanes)
                                  : zeros();
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
      store(to + point * step, whole[point]);
    }
    dy += plane;
    to += kLanes;
  }
}

using AddProducts = void (*)(const GradientFactors&, float*, std::int64_t, bool);
template <int... kFewer>
constexpr std::array<AddProducts, sizeof...(kFewer)> each_add_products(
    std::integer_sequence<int, kFewer...> /*numbers*/) {
  return {add_products_of<kFewer + 1>...};
}
/// add_products_of() 1 to kGradientVectors vectors.
inline constexpr auto kAddProducts =
    each_add_products(std::make_integer_sequence<int, kGradientVectors>());

template <class T>
void transform_tile(const WinogradGradient& args, const WinogradChunk& chunk, std::int64_t tile) {
  const WinogradShape& shape = args.plan.shape;
  const WinogradCorner corner = corner_of(shape, chunk.first + tile);
  transform_input_tile(shape, corner, static_cast<const T*>(args.x),
                       chunk.input + tile * chunk.in_row, chunk.capacity * chunk.in_row);
  transform_gradient_tile(shape, corner, static_cast<const T*>(args.dy),
                          chunk.gradient + tile * chunk.out_row, chunk.capacity * chunk.out_row);
}

inline void add_products(const WinogradShape& shape, const WinogradChunk& chunk, std::int64_t point,
                         std::int64_t in_block) {
  const std::int64_t channels = shape.in_blocks * kLanes;
  const std::int64_t step = channels * kLanes;
  const bool first = chunk.first == 0;
  for (std::int64_t in = in_block * kLanes; in < (in_block + 1) * kLanes; in += kGradientRows) {
    GradientFactors factors{.input = chunk.input + point * chunk.capacity * chunk.in_row + in,
                            .in_row = chunk.in_row,
                            .gradient = chunk.gradient + point * chunk.capacity * chunk.out_row,
                            .out_row = chunk.out_row,
                            .tiles = chunk.count};
    float* sums = chunk.sums + point * shape.out_blocks * step + in * kLanes;
    for (std::int64_t block = 0; block < shape.out_blocks; block += kGradientVectors) {
      const std::int64_t vectors =
          std::min<std::int64_t>(shape.out_blocks - block, kGradientVectors);
      kAddProducts[static_cast<std::size_t>(vectors - 1)](factors, sums + block * step, step,
                                                          first);
      factors.gradient += kGradientVectors * kLanes;
    }
  }
}

BENCH_TARGET inline void write_filters(const WinogradGradient& args, const float* sums,
                                       std::int64_t out_block, std::int64_t in_block) {
  const WinogradShape& shape = args.plan.shape;
  constexpr std::int64_t kTapFloats = kLanes * kLanes;
  const std::int64_t channels = shape.in_blocks * kLanes;
  const float* from = sums + (out_block * channels + in_block * kLanes) * kLanes;
  float* to = args.dw + (out_block * shape.in_blocks + in_block) * kTaps * kTaps * kTapFloats;
  for (std::int64_t in = 0; in < kLanes; ++in) {
    Vector u[kSide * kSide];
    Vector half[kTaps * kSide];
    Vector g[kTaps * kTaps];
#pragma GCC unroll 36
    for (int point = 0; point < kWinogradPoints; ++point) {
      u[point] = load(from + point * shape.out_blocks * channels * kLanes);
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
      store(to + tap * kTapFloats, g[tap]);
    }
    from += kLanes;
    to += kLanes;
  }
}

/// The passes on tensors of T.
template <class T>
constexpr WinogradPasses passes_for() {
  return {.transform_filters = transform_filters<T>,
          .convolve_group = convolve_group<T>,
          .transform_tile = transform_tile<T>,
          .add_products = add_products,
          .write_filters = write_filters};
}

}  // namespace
}  // namespace bench::cpu::BENCH_WINOGRAD_TARGET
