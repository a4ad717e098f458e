#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "kernels/cuda/device/runtime.h"
#include "kernels/optimizer.h"

namespace bench::cuda {

// Kernels of bench::Optimizer on f32 regions. All launches enqueue and do not wait; tables, regions
// and the state are in device memory.

/// Elements of one segment, processed by one block.
struct OptimizerChunk {
  static constexpr std::int64_t kMost = 4096;
  /// The distance from the start of the regions.
  std::int64_t begin = 0;
  int count = 0;
  bool decayed = true;
  /// The segment's first copy in the table of copies.
  int first_copy = 0;
  int copies = 0;
  /// The number of the segment.
  int segment = 0;
};

/// The chunks of one segment.
struct OptimizerChunks {
  int first = 0;
  int count = 0;
  bool decayed = true;
};

/// A 16-bit copy of a segment.
struct OptimizerCopy {
  /// The start of the segment in the regions, and of its copy among the copies; in elements.
  std::int64_t segment = 0;
  std::int64_t copy = 0;
  DType dtype = DType::bf16;
  /// Null if the elements keep their order; otherwise the copy's tile for each tile of the segment.
  const std::uint32_t* tiles = nullptr;
  /// For each element of a tile, its place in the copy's tile.
  const std::uint16_t* places = nullptr;
  /// A tile has 1 << tile_bits elements.
  int tile_bits = 0;
};

struct OptimizerTables {
  const OptimizerChunk* chunks = nullptr;
  std::size_t chunk_count = 0;
  const OptimizerCopy* copies = nullptr;
  /// Only for LARS, like the memory below; otherwise null.
  const OptimizerChunks* segments = nullptr;
  std::size_t segment_count = 0;
  /// Two sums of squares per chunk, in f32: of the variables, then of the gradients.
  float* squares = nullptr;
  /// Each segment's factor of the learning rate.
  float* rate_factors = nullptr;
};

inline constexpr std::size_t kMostOptimizerSlots = 2;
using OptimizerSlots = std::array<float*, kMostOptimizerSlots>;

/// See Optimizer::reset: slot i becomes first_values[i] in all chunks, for the first `slot_count`
/// slots.
struct OptimizerReset {
  OptimizerTables tables = {};
  std::size_t slot_count = 0;
  OptimizerSlots slots = {};
  std::array<float, kMostOptimizerSlots> first_values = {};
  StepState* state = nullptr;
};
void reset_optimizer(cudaStream_t stream, const OptimizerReset& args);

/// See Optimizer::judge.
struct OptimizerJudgement {
  OptimizerTables tables = {};
  const float* gradients = nullptr;
  StepState* state = nullptr;
};
void judge_gradients(cudaStream_t stream, const OptimizerJudgement& args);

/// See Optimizer::launch.
struct OptimizerUpdate {
  OptimizerTables tables = {};
  OptimizerRule rule = {};
  double weight_decay = 0;
  /// Infinity disables clipping.
  double clip = std::numeric_limits<double>::infinity();
  LossScaleRule loss_scale = {};
  float* variables = nullptr;
  const float* gradients = nullptr;
  /// Null means `variables`.
  const float* decaying = nullptr;
  OptimizerSlots slots = {};
  /// May be null without copies.
  void* copies = nullptr;
  StepState* state = nullptr;
};
void update_variables(cudaStream_t stream, const OptimizerUpdate& args);

}  // namespace bench::cuda
