#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>

#include "pipeline/stages/sample_order.h"

namespace bench {

/// One image to prepare, or the error that ended the reading.
struct SampleTask {
  Sample sample;
  std::int64_t position = 0;  ///< in the stream, from 0
  std::exception_ptr error;
};

struct TaskQueueLimits {
  std::size_t longest = 1;
  std::int64_t batch = 1;
  std::int64_t slots = 2;
};

/// What the reading thread of a loader hands to its workers. It knows nothing else of the loader,
/// so that a thread that a stalled disk keeps may outlive it.
class TaskQueue {
 public:
  explicit TaskQueue(const TaskQueueLimits& limits) : limits_(limits) {}

  /// Waits until the queue has room and the task's batch a slot; false once stopped.
  bool push(SampleTask task);
  /// Waits for a task; none once stopped.
  std::optional<SampleTask> pop();
  /// So many batches of the stream have gone: slots as many may be filled again.
  void set_released(std::int64_t batches);
  void stop();

  /// The reading thread's, of its processor time.
  void add_busy(std::chrono::nanoseconds time);
  [[nodiscard]] std::chrono::nanoseconds busy() const;
  void say_reading_ended();
  /// Whether it has, at most so much later.
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
  std::chrono::nanoseconds busy_{};
};

}  // namespace bench
