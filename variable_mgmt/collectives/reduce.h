#pragma once

#include <cstddef>
#include <span>

#include "models/base/dtype.h"

namespace bench {

/// Writes the sum of the sources' elements, added in order, to all targets. Sums of f16 and bf16
/// are computed in f32 and rounded once. A target may be a source; otherwise they do not overlap.
struct ReduceArgs {
  DType dtype = DType::f32;
  std::size_t count = 0;
  std::span<const void* const> sources;
  std::span<void* const> targets;
};

/// Reduces on the calling thread. Throws InternalError for a type that is not floating.
void reduce(const ReduceArgs& args);

}  // namespace bench
