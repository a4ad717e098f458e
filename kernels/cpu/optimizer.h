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
  /// Makes one pass over memory. Waits.
  void update(ThreadTeam& team, const OptimizerMemory& memory, const UpdateScalars& scalars) const;
  /// Sets the slots to their first values. Waits.
  void reset(ThreadTeam& team, std::span<void* const> slots) const;

 private:
  OptimizerSettings settings_;
  std::vector<OptimizerSegment> segments_;
  /// The copiers of each segment's copies.
  std::vector<std::vector<TileCopier>> copiers_;
};

}  // namespace bench::cpu
