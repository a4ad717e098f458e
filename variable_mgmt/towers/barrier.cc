#include "variable_mgmt/towers/barrier.h"

namespace bench {

void Barrier::arrive() {
  std::unique_lock lock(mutex_);
  if (!cancelled_ && ++arrived_ == size_) {
    arrived_ = 0;
    ++round_;
    complete_.notify_all();
    return;
  }
  const std::uint64_t round = round_;
  complete_.wait(lock, [&] { return cancelled_ || round_ != round; });
  // A tower whose round was complete before the cancellation continues.
  if (round_ == round) {
    throw Cancelled("another tower cancelled the shared step");
  }
}

void Barrier::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  complete_.notify_all();
}

}  // namespace bench
