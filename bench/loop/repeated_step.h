#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/plan/settings.h"
#include "variable_mgmt/strategies/strategy.h"

namespace bench {

/// Enqueues what every step does after its batch has arrived: step parameters, network, update. If
/// the device benefits, the second step is recorded and replayed from then on. The first step loads
/// whatever the device loads on first use. The recording covers the whole step, or parts of the
/// network if the update synchronizes with other towers on the host.
class RepeatedStep {
 public:
  /// `strategy` is null for a forward-only run; both arguments must outlive this.
  RepeatedStep(StepRecording recording, Tower& tower, UpdateStrategy* strategy);
  ~RepeatedStep();
  RepeatedStep(const RepeatedStep&) = delete;
  RepeatedStep& operator=(const RepeatedStep&) = delete;

  /// Enqueues a step; the tower's step parameters must be set. Calls `meanwhile` while the device
  /// executes the network, if possible before the update waits for other towers. Throws DeviceError
  /// if recording fails and either --cuda_graph=on requires it or the step contains NCCL.
  void enqueue(const std::function<void()>& meanwhile);
  /// The host's time when the network of the last enqueue() was enqueued, or was complete if the
  /// device computes in host memory. Not valid for a replayed step.
  [[nodiscard]] std::chrono::steady_clock::time_point computed_at() const { return computed_at_; }
  /// The time from begin to end of the last enqueue() on the device's clock; its work must be
  /// complete. nullopt if the device computes in host memory.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> device_time() const;
  /// True if the last enqueue() replayed a recording of the whole step.
  [[nodiscard]] bool replayed() const { return recorded_ != nullptr; }
  /// A remark if steps should be replayed but are not, or only in parts; else empty.
  [[nodiscard]] const std::string& remark() const { return remark_; }
  /// UpdateStrategy::reduced_on(); empty for a forward-only run.
  [[nodiscard]] std::string_view reduced_on() const {
    return strategy_ == nullptr ? std::string_view() : strategy_->reduced_on();
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
  /// Recorded before and after a step on the tower's stream; null if the device computes in host
  /// memory.
  std::unique_ptr<Event> begun_;
  std::unique_ptr<Event> ended_;
  std::string remark_;
};

}  // namespace bench
