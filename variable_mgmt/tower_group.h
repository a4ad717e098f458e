#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "models/base/errors.h"

namespace bench {

/// What a tower's wait for the others ends with where another one failed: that failure is the
/// cause.
class GroupCancelled : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Where the towers of one process meet, each on a thread of its own.
class TowerGroup {
 public:
  explicit TowerGroup(int size) : size_(size) {}
  TowerGroup(const TowerGroup&) = delete;
  TowerGroup& operator=(const TowerGroup&) = delete;

  [[nodiscard]] int size() const { return size_; }
  /// Waits until every tower has come here as often as this one. What they wrote before is seen
  /// behind it. Throws GroupCancelled once the group was cancelled.
  void arrive();
  /// Ends every wait, now and from now on.
  void cancel();
  /// Whether it was cancelled, for who does not wait but works.
  [[nodiscard]] const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  const int size_;
  std::mutex mutex_;
  std::condition_variable complete_;
  int arrived_ = 0;
  std::uint64_t round_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace bench
