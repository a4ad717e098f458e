#include "pipeline/stages/task_queue.h"

#include <utility>

namespace bench {

bool TaskQueue::push(SampleTask task) {
  const std::int64_t batch = task.position / limits_.batch;
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] {
      return stopping_ || (tasks_.size() < limits_.longest && batch < released_ + limits_.slots);
    });
    if (stopping_) {
      return false;
    }
    tasks_.push_back(std::move(task));
  }
  work_.notify_one();
  return true;
}

std::optional<SampleTask> TaskQueue::pop() {
  std::optional<SampleTask> task;
  {
    std::unique_lock lock(mutex_);
    work_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (stopping_) {
      return std::nullopt;
    }
    task = std::move(tasks_.front());
    tasks_.pop_front();
  }
  room_.notify_one();
  return task;
}

void TaskQueue::set_released(std::int64_t batches) {
  {
    const std::lock_guard lock(mutex_);
    released_ = batches;
  }
  room_.notify_one();
}

void TaskQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  room_.notify_all();
  work_.notify_all();
}

void TaskQueue::add(const ThreadTimes& times) {
  const std::lock_guard lock(mutex_);
  times_ += times;
}

ThreadTimes TaskQueue::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

void TaskQueue::add_of_readers(const ThreadTimes& times) {
  const std::lock_guard lock(mutex_);
  times_of_readers_ += times;
}

ThreadTimes TaskQueue::times_of_readers() const {
  const std::lock_guard lock(mutex_);
  return times_of_readers_;
}

void TaskQueue::say_reading_ended() {
  // Notify under the lock: the waiting thread may destroy this object at once.
  const std::lock_guard lock(mutex_);
  reading_ended_ = true;
  ended_.notify_all();
}

bool TaskQueue::reading_ends_within(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [this] { return reading_ended_; });
}

}  // namespace bench
