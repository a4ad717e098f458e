#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "results/environment/system_files.h"
#include "results/record/conditions.h"

namespace bench {

/// The mean clock frequency of the processors at this moment.
Captured<double> mean_mhz(const SystemFiles& files, const std::vector<int>& processors);
/// The highest temperature of the thermal zones and the processors' own sensors.
Captured<double> hottest_celsius(const SystemFiles& files);

/// Samples both once a second while steps are timed, on a separate thread. Starts no thread if
/// neither value can be read.
class CpuWatch {
 public:
  static constexpr std::chrono::milliseconds kPeriod{1000};

  /// `files` must outlive this.
  CpuWatch(const SystemFiles& files, std::vector<int> processors,
           std::chrono::nanoseconds period = kPeriod);
  ~CpuWatch() { end(); }
  CpuWatch(const CpuWatch&) = delete;
  CpuWatch& operator=(const CpuWatch&) = delete;

  /// Waits some milliseconds for the current sample. Further calls do nothing.
  void end();
  /// Call it after end().
  [[nodiscard]] const results::CpuWatched& result() const { return watched_; }

 private:
  void watch(std::chrono::nanoseconds period);
  void sample();

  const SystemFiles& files_;
  const std::vector<int> processors_;
  results::CpuWatched watched_{};
  std::vector<double> mhz_{};
  std::vector<double> celsius_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace bench
