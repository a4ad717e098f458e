#pragma once

#include <chrono>

namespace bench {

/// A monotonic time since an arbitrary start.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::nanoseconds now() const = 0;
};

/// The system's monotonic clock.
class SteadyClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
};

}  // namespace bench
