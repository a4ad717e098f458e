#pragma once

#include <cstdint>

#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// kDropPath of models/ops/drop_path.h on contiguous examples, whatever their inner layout. y may
/// be x. Drops the same examples for every team size. Waits.
struct DropPath {
  /// The type of x and y: f32, bf16 or f16.
  DType dtype = DType::f32;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  std::uint64_t first_example = 0;
  std::int32_t step = 0;
  /// keep_probability of the step; not read if the step is negative.
  double keep = 1;
  std::int64_t examples = 0;
  /// Per example, padding included.
  std::int64_t elements = 0;
  const void* x = nullptr;
  void* y = nullptr;
};
void drop_path(ThreadTeam& team, const DropPath& args);

}  // namespace bench::cpu
