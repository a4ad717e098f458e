#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>

#include "pipeline/input.h"
#include "pipeline/stages/sample_order.h"

namespace bench {

/// One image to prepare, or the error that ended the reading.
struct SampleTask {
  Sample sample;
  std::int64_t position = 0;  ///< in the stream, counted from 0
  std::exception_ptr error;
};

struct TaskQueueLimits {
  std::size_t longest = 1;
  std::int64_t batch = 1;
  std::int64_t slots = 2;
};

/// Passes samples from a loader's reading thread to its workers. The reading thread knows no other
/// part of the loader, so it may outlive the loader when a disk stalls.
class TaskQueue {
 public:
  explicit TaskQueue(const TaskQueueLimits& limits) : limits_(limits) {}

  /// Waits until the queue has space and the task's batch has a slot; false once stopped.
  bool push(SampleTask task);
  /// Waits for a task; returns nothing once stopped.
  std::optional<SampleTask> pop();
  /// Sets the number of batches released so far, whose slots may be filled again.
  void set_released(std::int64_t batches);
  void stop();

  /// Adds to the reading thread's times.
  void add(const ThreadTimes& times);
  [[nodiscard]] ThreadTimes times() const;
  /// The same for the threads that read files for it.
  void add_of_readers(const ThreadTimes& times);
  [[nodiscard]] ThreadTimes times_of_readers() const;
  void say_reading_ended();
  /// Waits at most `time`; returns true if reading has ended.
  bool reading_ends_within(std::chrono::nanoseconds time);

 private:
  const TaskQueueLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable work_;
  std::condition_variable ended_;
  std::deque<SampleTask> tasks_;
  std::int64_t released_ = 0;
  bool stopping_ = false;
  bool reading_ended_ = false;
  ThreadTimes times_;
  ThreadTimes times_of_readers_;
};

}  // namespace bench
