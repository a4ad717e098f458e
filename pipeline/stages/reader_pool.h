#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "pipeline/input.h"

namespace bench {

/// Threads that read files for a reading thread. It waits for what it needs next, so the order of
/// records does not depend on the threads.
class ReaderPool {
 public:
  /// Throws DeviceError if the system starts no more threads.
  explicit ReaderPool(int threads);
  /// Waits for the work in progress; drops the rest.
  ~ReaderPool();
  ReaderPool(ReaderPool&&) = delete;
  ReaderPool& operator=(ReaderPool&&) = delete;

  /// Runs `work` on one of the threads, in the order of the calls. The future also passes on what
  /// it throws.
  template <class Work>
  std::future<std::invoke_result_t<Work>> run(Work work) {
    auto task = std::make_shared<std::packaged_task<std::invoke_result_t<Work>()>>(std::move(work));
    auto result = task->get_future();
    add([task] { (*task)(); });
    return result;
  }

  [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()); }
  /// The times since the last call or the construction.
  ThreadTimes take_times();

 private:
  void stop();
  void add(std::function<void()> work);
  void serve();

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  ThreadTimes times_;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace bench
