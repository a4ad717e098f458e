#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/plan/settings.h"
#include "variable_mgmt/strategy.h"

namespace bench {

/// What every step enqueues behind its batch: the orders, the network, the update. Recorded at the
/// second step, behind one that has loaded whatever the device loads when it is first used, and
/// replayed from then on, where the device gains by it: as a whole, or where the update meets other
/// towers on the host, the network in parts.
class RepeatedStep {
 public:
  /// `strategy` is null for a forward-only run; both outlive this.
  RepeatedStep(StepRecording recording, Tower& tower, UpdateStrategy* strategy);
  ~RepeatedStep();
  RepeatedStep(const RepeatedStep&) = delete;
  RepeatedStep& operator=(const RepeatedStep&) = delete;

  /// The tower's orders were set. `meanwhile` is called while the device works on the network, and
  /// where the host can, before it waits for other towers in the update. Throws DeviceError where a
  /// step is to be recorded and cannot be.
  void enqueue(const std::function<void()>& meanwhile);
  /// When the network of the last enqueue() was enqueued, and on a device that computes in the
  /// host's memory done; by the host's clock. Not of a step that was replayed.
  [[nodiscard]] std::chrono::steady_clock::time_point computed_at() const { return computed_at_; }
  /// Of the last enqueue(), whose work is done: from when the device came to its beginning to when
  /// it came to its end, by the device's clock. None where it computes in the host's memory.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> device_time() const;
  /// As a whole, from its recording: so was the last enqueue().
  [[nodiscard]] bool replayed() const { return recorded_ != nullptr; }
  /// What there is to say where steps are to be replayed and are not, or not as a whole; else
  /// empty.
  [[nodiscard]] const std::string& remark() const { return remark_; }
  /// UpdateStrategy::gradients_meet(); empty for a forward-only run.
  [[nodiscard]] std::string_view gradients_meet() const {
    return strategy_ == nullptr ? std::string_view() : strategy_->gradients_meet();
  }

 private:
  void enqueue_kernels(const std::function<void()>& meanwhile);
  void record();

  StepRecording recording_;
  Tower& tower_;
  UpdateStrategy* strategy_;
  std::chrono::steady_clock::time_point computed_at_{};
  bool warm_ = false;
  /// Why it is not recorded as a whole.
  std::string why_in_parts_;
  bool parts_are_recorded_ = false;
  std::unique_ptr<Recording> recorded_;
  /// Around a step's work on the tower's stream; null where the device computes in the host's
  /// memory.
  std::unique_ptr<Event> begun_;
  std::unique_ptr<Event> ended_;
  std::string remark_;
};

}  // namespace bench
