#pragma once

#include "bench/loop/batches_ahead.h"
#include "bench/loop/repeated_step.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {

/// Gives the towers of a run their parts of its batches. Devices that share host memory get them
/// when a step begins. Others get them during the preceding step, each on a separate stream.
///
///     a tower    network 1 ...... | gradients, update | take 2 | network 2 ...
///     its copies    bring 2 ..... |                   |        |    bring 3 ...
class Feeding {
 public:
  /// `at_once`: the number of images that a tower's network computes at a time. All arguments must
  /// outlive this.
  Feeding(const Workload& workload, std::int64_t at_once, Towers& towers, BatchesAhead& batches);

  /// Prepares the batch of the next step; returns false if the run is interrupted before. `more`:
  /// another step follows.
  bool begin_step(bool more);
  /// The batch of the step, unless it was brought during the preceding one.
  [[nodiscard]] const InputBatch& batch() const { return batch_.value(); }
  /// Gives a tower the images for a run of its network, counted from 0; call it on the tower's
  /// thread.
  void feed(int tower, std::int64_t run);
  /// Enqueues a tower's step, and the transfer of its next batch; call it on the tower's thread.
  void enqueue(int tower, RepeatedStep& step);
  /// Call it when all towers have waited for the step.
  void end_step();
  /// The place in the input after the batch of the last step.
  [[nodiscard]] const InputPosition& position() const { return position_; }

 private:
  void feed(int tower, std::int64_t run, const InputBatch& batch);
  bool bring(int tower, BatchesAhead::Wait wait);

  Towers& towers_;
  BatchesAhead& batches_;
  /// The number of images in a tower's part.
  std::size_t images_;
  std::size_t at_once_;
  /// For the current step: its batch if it is still to be given, and if the next batch is
  /// transferred meanwhile.
  std::optional<InputBatch> batch_;
  bool ahead_ = false;
  /// The towers have the next step's batch.
  bool fed_ = false;
  InputPosition position_;
  /// After the batch of the current or next step.
  InputPosition next_position_ = {};
};

}  // namespace bench
