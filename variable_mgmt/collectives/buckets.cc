#include "variable_mgmt/collectives/buckets.h"

#include <algorithm>

#include "models/base/errors.h"

namespace bench {

std::vector<GradientBucket> plan_buckets(std::span<const FinalGradient> gradients,
                                         const BucketLimits& limits) {
  std::vector<GradientBucket> buckets;
  std::size_t most_bytes = limits.bytes;
  if (limits.count > 1 && !gradients.empty()) {
    const std::size_t all = gradients.back().piece.end() - gradients.front().piece.offset;
    most_bytes = std::min(most_bytes, std::max(all / limits.count, BucketLimits::kLeastBytes));
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const FinalGradient& gradient = gradients[i];
    check(i == 0 || gradients[i - 1].piece.end() <= gradient.piece.offset,
          "buckets: the gradients are not in the region's order");
    if (!buckets.empty()) {
      GradientBucket& last = buckets.back();
      const std::size_t bytes = gradient.piece.end() - last.piece.offset;
      const std::size_t limit =
          buckets.size() == 1 ? std::min(limits.first_bytes, most_bytes) : most_bytes;
      if (bytes <= limit) {
        last.gradients.last = i;
        last.piece.bytes = bytes;
        last.final_step = std::max(last.final_step, gradient.final_step);
        continue;
      }
    }
    buckets.push_back({.gradients = {.first = i, .last = i},
                       .piece = gradient.piece,
                       .final_step = gradient.final_step});
  }
  return buckets;
}

}  // namespace bench
