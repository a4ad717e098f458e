#pragma once

#include <ctime>

#include <chrono>

#include "pipeline/input.h"

namespace bench {

inline std::chrono::nanoseconds time_of(clockid_t clock) {
  std::timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}
/// Processor time that the calling thread has used.
inline std::chrono::nanoseconds thread_cpu_time() { return time_of(CLOCK_THREAD_CPUTIME_ID); }
/// The same for all threads of the process.
inline std::chrono::nanoseconds process_cpu_time() { return time_of(CLOCK_PROCESS_CPUTIME_ID); }

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

/// Follows how the calling thread spends its time. The thread calls waited() and worked() in turn.
class ThreadClock {
 public:
  ThreadClock();
  ~ThreadClock();
  ThreadClock(const ThreadClock&) = delete;
  ThreadClock& operator=(const ThreadClock&) = delete;

  /// The thread has waited for other threads since the last call or the construction.
  void waited() { times_.waited += lap(); }
  /// The thread has worked since the last call or the construction.
  void worked() { times_.work += lap(); }
  /// True if the last take() or the construction was long ago, because take() is expensive.
  [[nodiscard]] bool is_due() const { return wall_ - taken_ >= std::chrono::milliseconds(20); }
  /// The times since the last take() or the construction.
  [[nodiscard]] ThreadTimes take();

 private:
  std::chrono::nanoseconds lap() {
    const auto now = std::chrono::steady_clock::now();
    const auto passed = now - wall_;
    wall_ = now;
    return passed;
  }
  /// The time in which the thread could run but no processor was free; 0 if the kernel does not
  /// count it.
  [[nodiscard]] std::chrono::nanoseconds delayed() const;

  /// A descriptor of the kernel's file about this thread; negative if it cannot be opened.
  const int schedstat_;
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point taken_ = wall_;
  CpuLap processor_;
  std::chrono::nanoseconds delayed_;
  ThreadTimes times_;
};

}  // namespace bench
