#pragma once

#include "bench/loop/batches_ahead.h"
#include "bench/loop/repeated_step.h"
#include "variable_mgmt/towers.h"

namespace bench {

/// Gives the towers of a run their parts of its batches: to devices that share the host's memory
/// when a step begins; to others while they work on the step before, each on a stream of its own.
///
///     a tower    network 1 ...... | gradients, update | take 2 | network 2 ...
///     its copies    bring 2 ..... |                   |        |    bring 3 ...
class Feeding {
 public:
  /// All outlive this.
  Feeding(const RunSettings& settings, Towers& towers, BatchesAhead& batches);

  /// The next step has a batch. False where the run is interrupted before there is one. `more`:
  /// another step follows.
  bool begin_step(bool more);
  /// Of a tower, on its thread: its part of that batch.
  void feed(int tower);
  /// Of a tower, on its thread: enqueues its step, and that the next one finds its batch.
  void enqueue(int tower, RepeatedStep& step);
  /// All towers have waited for the step.
  void end_step() { fed_ = batches_.has_ahead(); }

 private:
  void feed(int tower, const InputBatch& batch);
  bool bring(int tower, BatchesAhead::Wait wait);

  Towers& towers_;
  BatchesAhead& batches_;
  /// Of a tower's part.
  std::size_t images_;
  std::size_t image_elements_;
  /// Of the step in hand: the batch where it is yet to be given, and whether the next one's is
  /// brought meanwhile.
  std::optional<InputBatch> batch_;
  bool ahead_ = false;
  /// The towers have the next step's batch.
  bool fed_ = false;
};

}  // namespace bench
