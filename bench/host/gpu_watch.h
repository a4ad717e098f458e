#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "bench/host/gpu_tally.h"
#include "bench/host/timed_watch.h"

namespace bench {

/// Watches a card while steps are timed, on a thread of its own, so that no step waits for a
/// sensor. The thread is there before and sleeps.
class GpuWatch final : public TimedWatch {
 public:
  static constexpr std::chrono::milliseconds kPeriod{100};

  /// Sensors and clock must outlive this; the clock is read by the thread.
  GpuWatch(const GpuSensors& sensors, const Clock& clock,
           std::chrono::nanoseconds period = kPeriod);
  ~GpuWatch() override { end(); }

  /// From now on; wakes the thread and does not wait.
  void begin() override;
  /// Until now; waits for the last readings, some milliseconds. Once it has ended, does nothing.
  void end() override;

  /// After end(); unknown where it never began.
  [[nodiscard]] Captured<results::GpuWatched> result() const;

 private:
  void watch();
  /// Sleeps until that time, or until the end; returns whether it is the end.
  bool over_at(std::chrono::steady_clock::time_point time);

  GpuTally tally_;
  const std::chrono::nanoseconds period_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool began_ = false;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace bench
