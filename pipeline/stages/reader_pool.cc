#include "pipeline/stages/reader_pool.h"

#include "models/base/threads.h"
#include "pipeline/stages/cpu_clock.h"

namespace bench {

ReaderPool::ReaderPool(int threads) {
  try {
    for (int i = 0; i < threads; ++i) {
      threads_.push_back(start_thread([this] { serve(); }));
    }
  } catch (const DeviceError&) {
    stop();
    throw;
  }
}

ReaderPool::~ReaderPool() { stop(); }

void ReaderPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  threads_.clear();
}

void ReaderPool::add(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  work_.notify_one();
}

void ReaderPool::serve() {
  ThreadClock clock;
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) {
        return;
      }
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    clock.waited();
    work();
    clock.worked();
    if (clock.is_due()) {
      const ThreadTimes times = clock.take();
      const std::lock_guard lock(mutex_);
      times_ += times;
    }
  }
}

ThreadTimes ReaderPool::take_times() {
  const std::lock_guard lock(mutex_);
  return std::exchange(times_, {});
}

}  // namespace bench
