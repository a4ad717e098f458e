#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "variable_mgmt/collectives/buckets.h"
#include "variable_mgmt/collectives/collective.h"
#include "variable_mgmt/gradients/narrow_gradients.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// Which gradients are added together, and when.
struct SumSettings {
  /// Algorithms by size; empty: shm for all.
  std::vector<AllReduceRange> spec = {};
  /// --gradient_repacking; 0: off.
  int packs = 0;
  /// --agg_small_grads_max_bytes and --agg_small_grads_max_group.
  SmallGradients small = {};
  /// Used if neither of these sets a partition and the spec does not depend on the gradients'
  /// sizes.
  BucketLimits buckets = {};
  /// --compact_gradient_transfer: gradients are sent and added in this 16-bit type. None: in their
  /// original type.
  std::optional<DType> narrow = {};
  /// True: gradients are added during the backward pass. False: after it.
  bool overlap = true;
  /// The towers in ring order; empty: 0, 1, 2, ...
  std::vector<int> ring_order = {};
  /// How long a tower waits for NCCL's sums and for its connections.
  std::chrono::milliseconds nccl_timeout = std::chrono::seconds(60);
  /// The ID of NCCL's group of all processes (NcclGroup). Empty: the processes agree on one.
  std::string nccl_id = {};
};

/// A range of the gradients' flat region that is added as one.
struct SumPiece {
  FlatPiece bytes;
  /// All gradients before this index must be final.
  std::size_t ready = 0;
};
/// Returns the pieces of the dense gradients in the order in which they become final.
std::vector<SumPiece> sum_pieces(std::span<const OptimizerSegment> segments, DType dtype,
                                 const SumSettings& settings);

/// When gradients became final, and the backward pass ended: times since
/// GradientSums::begin_step(), added over the steps. The first step is omitted.
struct SumTimes {
  std::int64_t steps = 0;
  std::chrono::nanoseconds backward{};
  struct Piece {
    std::size_t bytes = 0;
    std::chrono::nanoseconds ready{};
  };
  std::vector<Piece> pieces = {};
};

/// One tower's part in adding the dense gradients of all towers in place. Use it on the tower's
/// thread.
class GradientSums {
 public:
  GradientSums(Tower& tower, Collective& collective, int number, const SumSettings& settings);
  ~GradientSums();
  GradientSums(const GradientSums&) = delete;
  GradientSums& operator=(const GradientSums&) = delete;

  /// Announces that the gradients of the tower's next run are added, so that this can begin as they
  /// become final.
  void begin_step();
  /// Adds the remaining gradients; then every tower's gradients are the sums. Throws
  /// Cancelled if another tower failed.
  void finish_step();
  /// True if the sums are enqueued without waiting, so that a step can be recorded.
  [[nodiscard]] bool is_enqueued() const { return member_->can_join(); }
  /// With enqueued sums: waits until the tower has finished its enqueued work, and detects a sum
  /// that never completes. Throws DeviceError and Cancelled.
  void watch();
  [[nodiscard]] const SumTimes& times() const { return times_; }
  /// Ends the device's waits for other towers.
  void abandon() noexcept { member_->abandon(); }

 private:
  void start_until(std::size_t gradients);
  /// The address at which the sums of a piece are computed.
  void* place_of(std::size_t piece);

  Tower& tower_;
  DType dtype_;
  /// The type in which gradients are added.
  DType sent_;
  bool overlap_;
  std::chrono::milliseconds nccl_timeout_;
  std::vector<SumPiece> pieces_;
  /// Null if gradients are added in place. Outlives the member, which uses it.
  std::unique_ptr<NarrowGradients> narrow_;
  std::unique_ptr<CollectiveMember> member_;
  /// The state of the current step.
  bool begun_ = false;
  std::size_t started_ = 0;
  std::chrono::steady_clock::time_point begun_at_;
  SumTimes times_;
  bool is_first_ = true;
  std::vector<CollectiveMember::Handle> handles_;
};

}  // namespace bench
