#pragma once

#include <cstdint>

#include "kernels/cpu/winograd_gradient.h"
#include "kernels/cpu/winograd_passes.h"

// The passes of winograd_gradient(), each on one thread. They need a processor with AVX-512F.

namespace bench::cpu {

/// Consecutive tiles, and the memory for their transforms.
struct WinogradChunk {
  std::int64_t first = 0;
  std::int64_t count = 0;
  /// The most tiles.
  std::int64_t capacity = 0;
  /// Floats of a tile at one point, in `input` and in `gradient`.
  std::int64_t in_row = 0;
  std::int64_t out_row = 0;
  /// [36][capacity][in_row].
  float* input = nullptr;
  /// [36][capacity][out_row].
  float* gradient = nullptr;
  /// The transformed filters' gradient: [36][out_blocks][in channels][16].
  float* sums = nullptr;
};

/// Transforms the inputs and the gradients of a tile of the chunk.
void transform_tile(const WinogradGradient& args, const WinogradChunk& chunk, std::int64_t tile);

/// Adds the products of a chunk at one point, for a block of input channels and all output
/// channels. The first chunk sets the sums.
void add_products(const WinogradShape& shape, const WinogradChunk& chunk, std::int64_t point,
                  std::int64_t in_block);

/// Transforms the sums of a block of input channels and one of output channels.
void write_filters(const WinogradGradient& args, const float* sums, std::int64_t out_block,
                   std::int64_t in_block);

}  // namespace bench::cpu
