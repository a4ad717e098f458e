#pragma once

#include <atomic>

#include "results/environment/clock.h"

namespace bench {

/// A clock that advances only when any thread advances it.
class FakeClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return std::chrono::nanoseconds(now_.load()); }
  void advance(std::chrono::nanoseconds by) { now_ += by.count(); }

 private:
  std::atomic<std::chrono::nanoseconds::rep> now_ = 0;
};

}  // namespace bench
