#include "bench/loop/repeated_step.h"

#include "models/base/errors.h"

namespace bench {

RepeatedStep::RepeatedStep(StepRecording recording, Tower& tower, UpdateStrategy* strategy)
    : recording_(tower.backend().shares_host_memory() ? StepRecording::off : recording),
      tower_(tower),
      strategy_(strategy),
      why_in_parts_(strategy == nullptr ? "" : strategy->why_not_recorded()) {
  if (recording_ != StepRecording::off && !why_in_parts_.empty()) {
    remark_ = fmt::format("steps are replayed from recordings of their parts: {}", why_in_parts_);
  }
  if (!tower.backend().shares_host_memory()) {
    begun_ = tower.backend().make_event();
    ended_ = tower.backend().make_event();
  }
}

RepeatedStep::~RepeatedStep() {
  // A device may still be replaying it.
  finish(tower_.stream());
}

void RepeatedStep::enqueue(const std::function<void()>& meanwhile) {
  if (warm_ && recorded_ == nullptr && !parts_are_recorded_ && recording_ != StepRecording::off) {
    record();
  }
  warm_ = true;
  if (begun_ != nullptr) {
    tower_.stream().record(*begun_);
  }
  if (recorded_ != nullptr) {
    tower_.stream().replay(*recorded_);
  } else {
    enqueue_kernels(meanwhile);
  }
  if (ended_ != nullptr) {
    tower_.stream().record(*ended_);
  }
  if (recorded_ != nullptr) {
    meanwhile();
  }
}

std::optional<std::chrono::nanoseconds> RepeatedStep::device_time() const {
  return ended_ == nullptr ? std::nullopt : std::optional(ended_->since(*begun_));
}

void RepeatedStep::enqueue_kernels(const std::function<void()>& meanwhile) {
  if (strategy_ != nullptr) {
    strategy_->begin_step();
  }
  tower_.upload_parameters();
  if (parts_are_recorded_) {
    tower_.executor().enqueue_recorded();
  } else {
    tower_.enqueue_run();
  }
  computed_at_ = std::chrono::steady_clock::now();
  meanwhile();
  if (strategy_ != nullptr) {
    strategy_->update();
  }
}

void RepeatedStep::record() {
  try {
    if (why_in_parts_.empty()) {
      recorded_ = tower_.stream().capture([this] { enqueue_kernels([] {}); });
    } else {
      tower_.executor().record();
      parts_are_recorded_ = true;
    }
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceError& error) {
    if (recording_ == StepRecording::on) {
      throw DeviceError(
          fmt::format("--cuda_graph=on: a step cannot be recorded: {}", error.what()));
    }
    // A communicator that was part of the capture cannot be used again.
    if (reduced_on() == "nccl") {
      throw DeviceError(fmt::format("a step with NCCL cannot be recorded: {}; use --cuda_graph=off",
                                    error.what()));
    }
    recording_ = StepRecording::off;
    remark_ = fmt::format("steps are not replayed from a recording: {}", error.what());
  }
}

}  // namespace bench
