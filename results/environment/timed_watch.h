#pragma once

namespace bench {

/// Watches while steps are timed, from begin() to end(). Neither call delays a step by more than a
/// few readings.
class TimedWatch {
 public:
  TimedWatch() = default;
  virtual ~TimedWatch() = default;
  TimedWatch(const TimedWatch&) = delete;
  TimedWatch& operator=(const TimedWatch&) = delete;

  /// Starts watching.
  virtual void begin() = 0;
  /// Stops watching. Further calls do nothing.
  virtual void end() = 0;
};

}  // namespace bench
