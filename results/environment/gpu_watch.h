#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "results/environment/gpu_tally.h"
#include "results/environment/timed_watch.h"

namespace bench {

/// Watches a card while steps are timed, on a separate thread, so that no step waits for a sensor.
/// The thread starts earlier and sleeps until begin().
class GpuWatch final : public TimedWatch {
 public:
  static constexpr std::chrono::milliseconds kPeriod{100};

  /// Sensors and clock must outlive this. The thread reads the clock.
  GpuWatch(const GpuSensors& sensors, const Clock& clock,
           std::chrono::nanoseconds period = kPeriod);
  ~GpuWatch() override { end(); }

  /// Starts watching: wakes the thread and does not wait.
  void begin() override;
  /// Stops watching: waits some milliseconds for the last readings. Further calls do nothing.
  void end() override;

  /// Call it after end(); unknown if begin() was never called.
  [[nodiscard]] Captured<results::GpuWatched> result() const;

 private:
  void watch();
  /// Sleeps until `time` or the end; returns true at the end.
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
