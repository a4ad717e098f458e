#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "bench/host/clock.h"
#include "pipeline/input.h"

namespace bench {

/// A run's batches, each acquired once for all its towers: when a step begins, or by the first of
/// the towers that asks while they work on the step before. Nothing waits for a stalled disk once
/// the run is interrupted or a tower has failed.
class BatchesAhead {
 public:
  /// `waited` grows by what is waited for batches. All outlive this.
  BatchesAhead(InputSource& input, const Clock& clock, std::chrono::nanoseconds& waited,
               std::function<bool()> interrupted)
      : input_(input), clock_(clock), waited_(waited), interrupted_(std::move(interrupted)) {}

  /// The next batch; none where the run is interrupted before it is there. Releases the batch
  /// before: no tower works. Throws what the input throws, or threw when the batch was asked for
  /// ahead.
  std::optional<InputBatch> next();

  /// Towers are about to work on a step, and will ask for the batch of the one behind it.
  void begin_step() { ahead_.reset(); }
  enum class Wait : std::uint8_t { no, yes };
  /// That batch, from any tower's thread: it releases the batch before, whose copies all have to be
  /// done. None where there is none yet, or none to be had: next() tells why. Wait::no waits for
  /// nobody, not for a tower that waits either.
  std::optional<InputBatch> ahead(Wait wait);
  /// Whether ahead() gave one since begin_step(). No tower works.
  [[nodiscard]] bool has_ahead() const { return ahead_.has_value(); }
  /// A tower has failed: the others wait for no batch any more. From any thread.
  void give_up() { given_up_ = true; }

 private:
  /// False where there is no reason to wait any longer.
  [[nodiscard]] bool wait_for_batch();

  InputSource& input_;
  const Clock& clock_;
  std::chrono::nanoseconds& waited_;
  std::function<bool()> interrupted_;
  std::atomic<bool> given_up_ = false;
  /// Of what follows; never held while a batch is waited for ahead.
  std::mutex mutex_;
  /// A tower waits for the batch ahead: the input is its own until then.
  bool somebody_waits_ = false;
  std::condition_variable waited_for_;
  std::optional<InputBatch> ahead_;
  std::exception_ptr failure_;
};

}  // namespace bench
