#pragma once

#include <cstdint>

#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// kCast of models/ops/cast.h on `count` elements in a line, whatever their layout, between f32,
/// bf16 and f16: to nearest, ties to even. What is too large becomes infinite, a NaN stays one. y
/// overlaps x nowhere. Throws InternalError for other types.
struct Cast {
  std::int64_t count = 0;
  DType from = DType::f32;
  const void* x = nullptr;
  DType to = DType::f32;
  void* y = nullptr;
};
/// Waits.
void cast(ThreadTeam& team, const Cast& args);
/// Runs only on the calling thread, for a kernel's few values.
void cast(const Cast& args);

}  // namespace bench::cpu
