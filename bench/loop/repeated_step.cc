#include "bench/loop/repeated_step.h"

#include "models/base/errors.h"

namespace bench {

RepeatedStep::RepeatedStep(StepRecording recording, Tower& tower, UpdateStrategy* strategy,
                           int towers)
    : recording_(tower.backend().shares_host_memory() ? StepRecording::off : recording),
      tower_(tower),
      strategy_(strategy) {
  if (towers > 1 && strategy != nullptr && recording_ != StepRecording::off) {
    if (recording_ == StepRecording::on) {
      throw UsageError("--cuda_graph=on: the steps of several towers cannot be recorded");
    }
    recording_ = StepRecording::off;
    why_not_ = "the gradients of several towers meet on the host";
  }
}

RepeatedStep::~RepeatedStep() {
  // A device may still be replaying it.
  finish(tower_.stream());
}

void RepeatedStep::enqueue() {
  if (warm_ && recorded_ == nullptr && recording_ != StepRecording::off) {
    record();
  }
  warm_ = true;
  if (recorded_ != nullptr) {
    tower_.stream().replay(*recorded_);
  } else {
    enqueue_kernels();
  }
}

void RepeatedStep::enqueue_kernels() {
  if (strategy_ != nullptr) {
    strategy_->begin_step();
  }
  tower_.upload_orders();
  tower_.enqueue_run();
  if (strategy_ != nullptr) {
    strategy_->update();
  }
}

void RepeatedStep::record() {
  try {
    recorded_ = tower_.stream().capture([this] { enqueue_kernels(); });
  } catch (const DeviceError& error) {
    if (recording_ == StepRecording::on) {
      throw DeviceError(cat("--cuda_graph=on: a step cannot be recorded: ", error.what()));
    }
    recording_ = StepRecording::off;
    why_not_ = error.what();
  }
}

}  // namespace bench
