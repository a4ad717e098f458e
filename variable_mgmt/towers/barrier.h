#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "models/base/errors.h"

namespace bench {

/// A barrier for the towers of one process. Each tower has its own thread.
class Barrier {
 public:
  explicit Barrier(int size) : size_(size) {}
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  [[nodiscard]] int size() const { return size_; }
  /// Waits until every tower has arrived as often as this one. What they wrote before is then
  /// visible. Throws Cancelled once the barrier is cancelled.
  void arrive();
  /// Ends every wait, now and from now on.
  void cancel();
  /// True once cancelled, for threads that work instead of waiting.
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  const int size_;
  std::mutex mutex_;
  std::condition_variable complete_;
  int arrived_ = 0;
  std::uint64_t round_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace bench
