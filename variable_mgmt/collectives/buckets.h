#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "variable_mgmt/collectives/packing.h"

namespace bench {

/// A gradient in a flat region, which holds gradients in the order in which they become final.
struct FinalGradient {
  FlatPiece piece;
  /// The gradient is final after this step of the plan.
  std::size_t final_step = 0;
};

/// A gradient bucket: gradients first..last, reduced together once all of them are final.
struct GradientBucket {
  IndexRange gradients;
  FlatPiece piece;
  std::size_t final_step = 0;
  bool operator==(const GradientBucket&) const = default;
};

struct BucketLimits {
  std::size_t bytes = std::size_t{25} << 20;
  /// The limit of the first bucket, which may be smaller so that reducing begins early.
  std::size_t first_bytes = std::size_t{1} << 20;
  /// Above 1: lowers the limit to get about this many buckets, but never below kLeastBytes. The
  /// last bucket is added after the backward pass, so its time adds to the step.
  std::size_t count = 1;
  static constexpr std::size_t kLeastBytes = std::size_t{64} << 10;
};

/// Partitions the region into buckets, in order. Each is within the limits, or holds a single
/// gradient. Gaps between gradients belong to the buckets. Throws InternalError if the pieces are
/// not in order.
std::vector<GradientBucket> plan_buckets(std::span<const FinalGradient> gradients,
                                         const BucketLimits& limits);

}  // namespace bench
