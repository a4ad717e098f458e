#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// Kernels on `count` contiguous elements, whatever their layout; padded zeros stay zero. Outputs
/// may be any of the inputs. Each kernel makes one pass and waits.

/// y = a + b.
struct Add {
  /// The type of a, b and y: f32, bf16 or f16; the sum is f32.
  DType dtype = DType::f32;
  std::int64_t count = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  /// Applies ReLU to the sum.
  bool relu = false;
  void* y = nullptr;
};
void add(ThreadTeam& team, const Add& args);

/// y = factor * x.
struct Scale {
  std::int64_t count = 0;
  const float* x = nullptr;
  double factor = 1;
  float* y = nullptr;
};
void scale(ThreadTeam& team, const Scale& args);

/// One pair of kMovingAverage of models/ops/moving_average.h:
/// y = decay * running + (1 - decay) * factor * batch.
struct MovingAverage {
  std::int64_t count = 0;
  const float* running = nullptr;
  const float* batch = nullptr;
  double decay = 0.999;
  double factor = 1;
  float* y = nullptr;
};
/// All pairs as one range of work.
void moving_averages(ThreadTeam& team, std::span<const MovingAverage> averages);

/// y = value everywhere.
void fill(ThreadTeam& team, std::int64_t count, float value, float* y);

/// Sets bytes to zero, an equal range of whole pages per thread. This first touch places the pages
/// near the thread that touches them.
void zero_bytes(ThreadTeam& team, void* memory, std::size_t bytes);

}  // namespace bench::cpu
