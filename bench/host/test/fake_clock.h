#pragma once

#include "bench/host/clock.h"

namespace bench {

/// A clock that stands still until it is told to go on.
class FakeClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return now_; }
  void advance(std::chrono::nanoseconds by) { now_ += by; }

 private:
  std::chrono::nanoseconds now_{};
};

}  // namespace bench
