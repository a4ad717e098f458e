#include "results/environment/gpu_watch.h"

#include <algorithm>

namespace bench {

GpuWatch::GpuWatch(const GpuSensors& sensors, const Clock& clock, std::chrono::nanoseconds period)
    : tally_(sensors, clock), period_(period), thread_([this] { watch(); }) {}

void GpuWatch::begin() {
  {
    const std::lock_guard lock(mutex_);
    began_ = true;
  }
  changed_.notify_one();
}

void GpuWatch::end() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Captured<results::GpuWatched> GpuWatch::result() const {
  if (!began_) {
    return Unknown{"no step was timed"};
  }
  return tally_.result();
}

void GpuWatch::watch() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return began_ || over_; });
    if (!began_) {
      return;
    }
  }
  tally_.begin();
  auto next = std::chrono::steady_clock::now() + period_;
  while (!over_at(next)) {
    tally_.sample();
    // Skip missed samples, so that a card that answers slowly is not queried in a burst.
    next = std::max(next, std::chrono::steady_clock::now()) + period_;
  }
  tally_.end();
}

bool GpuWatch::over_at(std::chrono::steady_clock::time_point time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, time, [this] { return over_; });
}

}  // namespace bench
