#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bench {

/// The host threads of a run's towers, one each: everything of a tower, from its device's making to
/// its end, happens on its own. The first tower's is the thread that makes this and calls it; a
/// lone tower needs no other. Made before that thread is bound to processors, as threads inherit
/// it.
class TowerThreads {
 public:
  explicit TowerThreads(int towers);
  ~TowerThreads();
  TowerThreads(const TowerThreads&) = delete;
  TowerThreads& operator=(const TowerThreads&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls part(tower) for 0..size()-1, each on its tower's thread, all at once, and waits for all.
  /// Where parts fail, throws what failed first, with "tower 1: " before it where there are
  /// several; a library's exception then as DeviceError or InternalError. `cancel` is then called
  /// once, on the thread of that part, to end what the others wait for.
  void run(const std::function<void(int tower)>& part,
           const std::function<void(int tower)>& cancel = {});

 private:
  void serve(int tower);
  void call(int tower);

  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable done_;
  std::uint64_t round_ = 0;
  int working_ = 0;
  bool ending_ = false;
  const std::function<void(int)>* part_ = nullptr;
  const std::function<void(int)>* cancel_ = nullptr;
  std::exception_ptr failure_;
  /// Or a wait for a tower that failed: of such a pair the failure counts.
  bool failure_is_cause_ = false;
  int failed_tower_ = 0;
  /// Last: they use all of the above.
  std::vector<std::jthread> threads_;
};

}  // namespace bench
