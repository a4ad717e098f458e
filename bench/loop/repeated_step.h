#pragma once

#include <memory>
#include <string>

#include "bench/plan/settings.h"
#include "variable_mgmt/strategy.h"

namespace bench {

/// What every step enqueues behind its batch: the orders, the network, the update. Recorded at the
/// second step, behind one that has loaded whatever the device loads when it is first used, and
/// replayed as a whole from then on, where the device gains by it.
class RepeatedStep {
 public:
  /// `strategy` is null for a forward-only run; both outlive this. Steps of several towers, whose
  /// gradients meet on the host, are not recorded.
  RepeatedStep(StepRecording recording, Tower& tower, UpdateStrategy* strategy, int towers = 1);
  ~RepeatedStep();
  RepeatedStep(const RepeatedStep&) = delete;
  RepeatedStep& operator=(const RepeatedStep&) = delete;

  /// The tower's orders were set. Throws DeviceError where a step is to be recorded and cannot be.
  void enqueue();
  /// Why steps are not replayed where they were to be if they can be; empty: nothing came between.
  [[nodiscard]] const std::string& why_not_recorded() const { return why_not_; }

 private:
  void enqueue_kernels();
  void record();

  StepRecording recording_;
  Tower& tower_;
  UpdateStrategy* strategy_;
  bool warm_ = false;
  std::unique_ptr<Recording> recorded_;
  std::string why_not_;
};

}  // namespace bench
