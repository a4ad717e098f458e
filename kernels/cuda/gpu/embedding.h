#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/arguments.h"
#include "kernels/cuda/device/runtime.h"

namespace bench::cuda {

/// An id outside the table gives a row of NaNs. `count` must be below 2^31, else InternalError.
/// Enqueues and returns without waiting.
void embedding(cudaStream_t stream, const Embedding& args);

/// kEmbeddingBackward. Ignores `sparse`: every row is written. An id outside the table is skipped.
/// `count` must be below 2^31, else InternalError. Enqueues two kernels and two fills and returns
/// without waiting. For each place of a repeated id, a block searches the other ids, so the time
/// can grow with the square of `count`.
struct EmbeddingBackward {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t count = 0;
  /// The type of dy.
  DType dtype = DType::f32;
  const void* dy = nullptr;
  const std::int32_t* ids = nullptr;
  float* dtable = nullptr;
  /// Scratch memory: one count per row of the table.
  int* places = nullptr;
};
void embedding_backward(cudaStream_t stream, const EmbeddingBackward& args);
inline constexpr int kEmbeddingBackwardLaunches = 4;

}  // namespace bench::cuda
