#pragma once

#include <span>
#include <vector>

#include "variable_mgmt/towers/barrier.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// The sparse gradients of all towers that make an update together. Each tower constructs its own
/// object and calls it on its thread. Nothing is copied: every tower's optimizer reads the rows of
/// all towers, whose devices compute in the host's memory.
class SparseGradients {
 public:
  /// One entry per tower, by number: its sparse gradients in the order of its segments. All towers
  /// share the same object.
  using Towers = std::vector<std::vector<SparseGradient>>;

  /// For a tower that makes its updates alone.
  explicit SparseGradients(Tower& tower);
  SparseGradients(Tower& tower, Barrier& barrier, Towers& towers, int number);

  /// False if the tower's graph has no sparse gradients; then there is nothing else to call.
  [[nodiscard]] bool any() const { return !own_.empty(); }
  /// The gradients of the last run of all towers, for OptimizerMemory::sparse. With other towers,
  /// waits for this tower's run and for their same call, and may throw Cancelled.
  std::span<const SparseGradient> gather();
  /// Call it after the update: then the gradients may change. Waits as gather() does.
  void release();

 private:
  Tower& tower_;
  /// Null if the tower is alone.
  Barrier* barrier_ = nullptr;
  Towers* towers_ = nullptr;
  std::size_t number_ = 0;
  /// The first segment with a sparse gradient; those after it have sparse gradients too.
  std::size_t first_ = 0;
  std::vector<SparseGradient> own_;
  /// Those of all towers, by segment.
  std::vector<SparseGradient> all_;
};

/// The segments with dense gradients, which come first.
std::span<const OptimizerSegment> dense_segments(std::span<const OptimizerSegment> segments);

}  // namespace bench
