#pragma once

#include <ctime>

#include <chrono>

namespace bench {

/// Processor time that the calling thread has used.
inline std::chrono::nanoseconds thread_cpu_time() {
  std::timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Splits a thread's processor time into laps.
class CpuLap {
 public:
  /// Processor time since the last lap or the construction.
  std::chrono::nanoseconds lap() {
    const auto now = thread_cpu_time();
    const auto passed = now - last_;
    last_ = now;
    return passed;
  }

 private:
  std::chrono::nanoseconds last_ = thread_cpu_time();
};

}  // namespace bench
