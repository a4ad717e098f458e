#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "variable_mgmt/collectives/packing.h"

namespace bench {

/// A gradient in a flat region that holds them in the order in which they become final.
struct FinalGradient {
  FlatPiece piece;
  /// The step of the plan behind which it is final.
  std::size_t final_step = 0;
};

/// Gradients first..last, reduced as one as soon as all of them are final.
struct GradientBucket {
  IndexRange gradients;
  FlatPiece piece;
  std::size_t final_step = 0;
  bool operator==(const GradientBucket&) const = default;
};

struct BucketLimits {
  std::size_t bytes = std::size_t{25} << 20;
  /// Of the first, which may be smaller, so that reducing begins early.
  std::size_t first_bytes = std::size_t{1} << 20;
};

/// Buckets that cover the region in order, each of so many bytes at most, or of one gradient. Gaps
/// between gradients belong to them. Throws InternalError when the pieces are not in order.
std::vector<GradientBucket> plan_buckets(std::span<const FinalGradient> gradients,
                                         const BucketLimits& limits);

}  // namespace bench
