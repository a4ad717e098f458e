#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "variable_mgmt/collectives/buckets.h"
#include "variable_mgmt/collectives/collective.h"
#include "variable_mgmt/narrow_gradients.h"
#include "variable_mgmt/tower.h"

namespace bench {

/// What of the gradients is added as one, and when.
struct SumSettings {
  /// Algorithms by size; empty: shm for all.
  std::vector<AllReduceRange> spec = {};
  /// --gradient_repacking; 0: no.
  int packs = 0;
  /// --agg_small_grads_max_bytes and --agg_small_grads_max_group.
  SmallGradients small = {};
  /// Where neither of these asks for another cut, nor the spec for one by the gradients' sizes.
  BucketLimits buckets = {};
  /// --compact_gradient_transfer: gradients are sent and added in this type of 16 bits; none: in
  /// their own.
  std::optional<DType> narrow = {};
  /// Gradients are added while the backward pass goes on; else behind it.
  bool overlap = true;
  /// The towers in the order of a ring; empty: 0, 1, 2, ...
  std::vector<int> ring_order = {};
  /// How long a tower waits for sums that NCCL makes, and for its connections.
  std::chrono::milliseconds nccl_timeout = std::chrono::seconds(60);
};

/// A stretch of the gradients' flat region that is added as one.
struct SumPiece {
  FlatPiece bytes;
  /// All gradients before this one have to be final.
  std::size_t ready = 0;
};
/// The pieces in the order in which they become final.
std::vector<SumPiece> sum_pieces(const std::vector<OptimizerSegment>& segments, DType dtype,
                                 const SumSettings& settings);

/// A tower's part in adding the gradients of all towers where they lie. Used on its thread.
class GradientSums {
 public:
  GradientSums(Tower& tower, Collective& collective, int number, const SumSettings& settings);
  ~GradientSums();
  GradientSums(const GradientSums&) = delete;
  GradientSums& operator=(const GradientSums&) = delete;

  /// The tower's next run is one of a step whose gradients are added: they may be added as they
  /// become final.
  void begin_step();
  /// Adds what was not added yet; behind it every tower's gradients are the sums. Throws
  /// CollectiveCancelled where another tower failed.
  void finish_step();
  /// Whether that is enqueued without waiting, so that a step may be recorded.
  [[nodiscard]] bool is_enqueued() const { return member_->can_join(); }
  /// Where sums are enqueued: waits until the tower has done all that is, and notices a sum that
  /// never comes; throws DeviceError, and CollectiveCancelled.
  void watch();
  /// Ends what the tower's device waits for of other towers.
  void abandon() noexcept { member_->abandon(); }

 private:
  void start_until(std::size_t gradients);
  /// Where the sums of a piece are made.
  void* place_of(std::size_t piece);

  Tower& tower_;
  DType dtype_;
  /// Of what is added.
  DType sent_;
  bool overlap_;
  std::chrono::milliseconds nccl_timeout_;
  std::vector<SumPiece> pieces_;
  /// Null where gradients are added where they lie. Outlives the member, which uses it.
  std::unique_ptr<NarrowGradients> narrow_;
  std::unique_ptr<CollectiveMember> member_;
  /// Of this step.
  bool begun_ = false;
  std::size_t started_ = 0;
  std::vector<CollectiveMember::Handle> handles_;
};

}  // namespace bench
