#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/winograd.h"
#include "kernels/cpu/winograd_gradient.h"

// The passes of winograd() and winograd_gradient(), each on one thread, for each instruction set.

namespace bench::cpu {

/// Inputs and outputs per side of a tile, taps per side of a filter, and elements of a transformed
/// tile.
inline constexpr std::int64_t kSide = 6;
inline constexpr std::int64_t kOutputs = 4;
inline constexpr std::int64_t kTaps = 3;
inline constexpr std::int64_t kWinogradPoints = kSide * kSide;
/// The points of the interpolation are 0, A, -A, B, -B and infinity. For these A and B the root
/// mean square of the rounding errors is half of that for the usual 1 and 2.
inline constexpr float kA = 0.75F;
inline constexpr float kB = 1.5F;
inline constexpr float kA2 = kA * kA;
inline constexpr float kB2 = kB * kB;

/// The matrix product in registers: tiles times vectors of output channels. A vector has a block's
/// channels. There are 16 registers for blocks of 8, and 32 for blocks of 16.
inline constexpr std::int64_t kWinogradRows = 6;
constexpr std::int64_t winograd_vectors(std::int64_t block) { return block == 16 ? 4 : 2; }

/// The first output of a tile.
struct WinogradCorner {
  std::int64_t image = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};
WinogradCorner corner_of(const WinogradShape& shape, std::int64_t tile);
/// The number of tiles, including those that reach beyond y.
std::int64_t tiles_of(const WinogradShape& shape);

/// Consecutive tiles of one thread, and its memory.
struct WinogradGroup {
  std::int64_t first = 0;
  std::int64_t count = 0;
  /// The maximum number of tiles.
  std::int64_t capacity = 0;
  /// Floats of a tile at one point, in `input` and in `products`.
  std::int64_t row = 0;
  std::int64_t product_row = 0;
  /// [36][capacity][row].
  float* input = nullptr;
  /// [36][capacity][product_row].
  float* products = nullptr;
};

/// Filters in the order `forward` or `backward_data`.
struct WinogradFilterBlocks {
  WinogradFilters order = WinogradFilters::forward;
  std::int64_t in_blocks = 0;
  std::int64_t out_blocks = 0;
  const void* data = nullptr;
};

/// Consecutive tiles of winograd_gradient(), and the memory for their transforms.
struct WinogradChunk {
  std::int64_t first = 0;
  std::int64_t count = 0;
  /// The maximum number of tiles.
  std::int64_t capacity = 0;
  /// Floats of a tile at one point, in `input` and in `gradient`.
  std::int64_t in_row = 0;
  std::int64_t out_row = 0;
  /// [36][capacity][in_row].
  float* input = nullptr;
  /// [36][capacity][out_row].
  float* gradient = nullptr;
  /// The transformed filters' gradient: [36][out_blocks][in channels][block].
  float* sums = nullptr;
};

struct WinogradPasses {
  /// Transforms the filters between a block of input channels and one of output channels.
  void (*transform_filters)(const WinogradFilterBlocks& filters, std::int64_t out_block,
                            std::int64_t in_block, float* transformed) = nullptr;
  /// Computes these blocks of output channels for a group of tiles. `filters` are transformed.
  void (*convolve_group)(const Winograd& args, const WinogradGroup& group, const float* filters,
                         Range out_blocks) = nullptr;

  /// Transforms the inputs and the gradients of a tile of the chunk.
  void (*transform_tile)(const WinogradGradient& args, const WinogradChunk& chunk,
                         std::int64_t tile) = nullptr;
  /// Adds the products of a chunk at one point, for a block of input channels and all output
  /// channels. The first chunk sets the sums.
  void (*add_products)(const WinogradShape& shape, const WinogradChunk& chunk, std::int64_t point,
                       std::int64_t in_block) = nullptr;
  /// Transforms the sums of a block of input channels and one of output channels.
  void (*write_filters)(const WinogradGradient& args, const float* sums, std::int64_t out_block,
                        std::int64_t in_block) = nullptr;
};

/// The passes for blocks of 16 channels, which need AVX-512F, or of 8 in f32, which need AVX2 and
/// FMA. Throws InternalError for other blocks and types, and on other processors than x86-64.
const WinogradPasses& winograd_passes(std::int64_t block, DType dtype);

#if defined(__x86_64__)
namespace avx512 {
extern const WinogradPasses kWinogradPasses;
extern const WinogradPasses kBfloat16WinogradPasses;
}  // namespace avx512
namespace avx2 {
extern const WinogradPasses kWinogradPasses;
}
#endif

}  // namespace bench::cpu
