#pragma once

#include <cstdint>
#include <vector>

#include "kernels/arguments.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// Throws DataError for an id outside the table. Waits.
void embedding(ThreadTeam& team, const Embedding& args);

/// The rows that the last call wrote to a sparse gradient; all others are 0.
struct WrittenRows {
  /// The memory of the gradient; null before the first call.
  const float* dtable = nullptr;
  /// Distinct, in ascending order.
  std::vector<std::int32_t> ids = {};
};

/// kEmbeddingBackward. Throws DataError for an id outside the table. The result does not depend
/// on the number of threads. Waits.
struct EmbeddingBackward {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t count = 0;
  /// The type of dy: f32, bf16 or f16.
  DType dtype = DType::f32;
  const void* dy = nullptr;
  const std::int32_t* ids = nullptr;
  /// `count` elements of scratch memory.
  std::int32_t* order = nullptr;
  float* dtable = nullptr;
  /// Null if the gradient is not sparse. Otherwise the same object in each call.
  WrittenRows* written = nullptr;
};
void embedding_backward(ThreadTeam& team, const EmbeddingBackward& args);

/// kSwapAxes of models/ops/swap_axes.h, of any type, as matrices of rows. x[M,A,B] -> y[M,B,A]; y
/// must not be x. Waits.
struct SwapAxes {
  std::int64_t matrices = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t row_bytes = 0;
  const void* x = nullptr;
  void* y = nullptr;
};
void swap_axes(ThreadTeam& team, const SwapAxes& args);

}  // namespace bench::cpu
