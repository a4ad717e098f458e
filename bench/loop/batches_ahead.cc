#include "bench/loop/batches_ahead.h"

namespace bench {
namespace {

/// How often a thread that waits for a batch checks if it must stop waiting.
constexpr std::chrono::milliseconds kGlance{50};

/// Adds the time until its end.
class TimedWait {
 public:
  TimedWait(const Clock& clock, std::chrono::nanoseconds& total)
      : clock_(clock), total_(total), begin_(clock.now()) {}
  ~TimedWait() { total_ += clock_.now() - begin_; }
  TimedWait(const TimedWait&) = delete;
  TimedWait& operator=(const TimedWait&) = delete;

 private:
  const Clock& clock_;
  std::chrono::nanoseconds& total_;
  std::chrono::nanoseconds begin_;
};

}  // namespace

bool BatchesAhead::wait_for_batch() {
  while (!input_.ready_within(kGlance)) {
    if (given_up_ || interrupted_()) {
      return false;
    }
  }
  return true;
}

std::optional<InputBatch> BatchesAhead::next() {
  const std::lock_guard lock(mutex_);
  if (failure_ != nullptr) {
    std::rethrow_exception(failure_);
  }
  const TimedWait timed(clock_, waited_);
  input_.release();
  return wait_for_batch() ? std::optional(input_.next()) : std::nullopt;
}

std::optional<InputBatch> BatchesAhead::ahead(Wait wait) {
  std::unique_lock lock(mutex_);
  if (wait == Wait::yes) {
    waited_for_.wait(lock, [this] { return !somebody_waits_; });
  }
  if (ahead_ || failure_ != nullptr || somebody_waits_) {
    return ahead_;
  }
  const TimedWait timed(clock_, waited_);
  // Release before waiting: while the run is short of batches, the input needs every slot.
  input_.release();
  bool there = input_.ready_within({});
  if (!there && wait == Wait::yes) {
    // Callers that do not want to wait must find the mutex free.
    somebody_waits_ = true;
    lock.unlock();
    there = wait_for_batch();
    lock.lock();
    somebody_waits_ = false;
    waited_for_.notify_all();
  }
  if (there) {
    try {
      ahead_ = input_.next();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  return ahead_;
}

}  // namespace bench
