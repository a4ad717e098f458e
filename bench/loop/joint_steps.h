#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace bench {

/// Divides the time of asynchronous workers into joint steps: as many updates as there are workers.
/// Between two reports, updates are assumed to be evenly spaced.
class JointSteps {
 public:
  JointSteps(int workers, std::chrono::nanoseconds begin)
      : workers_(workers), reported_at_(begin), complete_until_(begin) {}

  /// The workers have made `updates` updates together since the beginning.
  void report(std::chrono::nanoseconds time, std::int64_t updates);
  /// Returns the duration of the next complete joint step. Returns nullopt if it is not complete.
  std::optional<std::chrono::nanoseconds> take();
  /// The number of complete joint steps.
  [[nodiscard]] std::int64_t complete() const { return reported_ / workers_; }

 private:
  const std::int64_t workers_;
  std::int64_t reported_ = 0;
  std::chrono::nanoseconds reported_at_;
  std::chrono::nanoseconds complete_until_;
  std::deque<std::chrono::nanoseconds> durations_;
};

}  // namespace bench
