#include "variable_mgmt/towers/tower_group.h"

namespace bench {

void TowerGroup::arrive() {
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
    throw GroupCancelled("another tower cancelled the shared step");
  }
}

void TowerGroup::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  complete_.notify_all();
}

}  // namespace bench
