#pragma once

namespace bench {

/// Watches while steps are timed, from one to the other of the two calls; neither makes a step
/// wait for more than a few readings.
class TimedWatch {
 public:
  TimedWatch() = default;
  virtual ~TimedWatch() = default;
  TimedWatch(const TimedWatch&) = delete;
  TimedWatch& operator=(const TimedWatch&) = delete;

  /// From now on.
  virtual void begin() = 0;
  /// Until now. Once it has ended, does nothing.
  virtual void end() = 0;
};

}  // namespace bench
