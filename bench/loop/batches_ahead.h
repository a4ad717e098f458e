#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "pipeline/input.h"
#include "results/environment/clock.h"

namespace bench {

/// The batches of a run, each acquired once for all towers: at the beginning of a step, or ahead.
/// In the latter case the first tower that asks acquires it while the towers execute the preceding
/// step. Once the run is interrupted or a tower has failed, nothing waits for a stalled disk.
class BatchesAhead {
 public:
  /// Adds the time spent waiting for batches to `waited`. All arguments must outlive this.
  BatchesAhead(InputSource& input, const Clock& clock, std::chrono::nanoseconds& waited,
               std::function<bool()> interrupted)
      : input_(input), clock_(clock), waited_(waited), interrupted_(std::move(interrupted)) {}

  /// Returns the next batch, or nullopt if the run is interrupted before it is available. Releases
  /// the preceding batch. Call it while no tower executes a step. Throws what the input throws, or
  /// threw when ahead() requested the batch.
  std::optional<InputBatch> next();

  /// Call it before the towers execute a step during which they ask for the following batch.
  void begin_step() { ahead_.reset(); }
  enum class Wait : std::uint8_t { no, yes };
  /// Returns the following batch; call it from any tower's thread. Releases the preceding batch,
  /// whose copies must be complete. Returns nullopt if the batch is not available yet, or cannot
  /// be; next() then gives the reason. Wait::no never waits, not even for another tower that waits.
  std::optional<InputBatch> ahead(Wait wait);
  /// The batch that ahead() returned since begin_step(), if any. Call it while no tower executes a
  /// step.
  [[nodiscard]] const std::optional<InputBatch>& brought_ahead() const { return ahead_; }
  /// Reports that a tower has failed, so that no other tower waits for a batch. Any thread may call
  /// it.
  void give_up() { given_up_ = true; }

 private:
  /// Returns false if there is no longer a reason to wait.
  [[nodiscard]] bool wait_for_batch();

  InputSource& input_;
  const Clock& clock_;
  std::chrono::nanoseconds& waited_;
  std::function<bool()> interrupted_;
  std::atomic<bool> given_up_ = false;
  /// Guards the members below; not held while a thread waits for a batch ahead.
  std::mutex mutex_;
  /// A tower waits for the batch ahead and has exclusive use of the input until it arrives.
  bool somebody_waits_ = false;
  std::condition_variable waited_for_;
  std::optional<InputBatch> ahead_;
  std::exception_ptr failure_;
};

}  // namespace bench
