#pragma once

#include <span>
#include <vector>

#include "kernels/cpu/thread_team.h"
#include "kernels/cpu/tile_copy.h"
#include "kernels/optimizer.h"

namespace bench::cpu {

/// bench::Optimizer's operations on variables, slots and copies of regions in f32. The threads
/// share the elements evenly, whatever the segments' borders.
class OptimizerKernel {
 public:
  OptimizerKernel(const OptimizerSettings& settings, std::vector<OptimizerSegment> segments);
  OptimizerKernel(const OptimizerKernel&) = delete;
  OptimizerKernel& operator=(const OptimizerKernel&) = delete;

  [[nodiscard]] std::span<const OptimizerSegment> segments() const { return segments_; }
  /// Makes one pass over memory, and with LARS one before it for the norms. Waits.
  void update(ThreadTeam& team, const OptimizerMemory& memory, const UpdateScalars& scalars);
  /// Sets the slots to their first values. Waits.
  void reset(ThreadTeam& team, std::span<void* const> slots) const;

 private:
  /// A part of a segment that decays, and the sums of squares of its variables and gradients.
  struct NormPart {
    std::size_t segment = 0;
    std::size_t offset = 0;
    std::size_t count = 0;
    double variables = 0;
    double gradients = 0;
  };

  /// Throws InternalError if the settings do not allow the sparse gradients.
  void check_sparse(const OptimizerMemory& memory) const;
  /// Writes rate_factors_. The result does not depend on the number of threads.
  void find_trust_ratios(ThreadTeam& team, const LarsRule& rule, const float* variables,
                         const float* gradients, double gradient_scale);

  OptimizerSettings settings_;
  std::vector<OptimizerSegment> segments_;
  /// The copiers of each segment's copies.
  std::vector<std::vector<TileCopier>> copiers_;
  /// Only for LARS: the parts of all segments that decay, and each segment's factor of the rate.
  std::vector<NormPart> norm_parts_;
  std::vector<double> rate_factors_;
  /// The rows of a sparse gradient of several towers; a member, so that steps reuse its memory.
  std::vector<std::int32_t> rows_;
};

}  // namespace bench::cpu
