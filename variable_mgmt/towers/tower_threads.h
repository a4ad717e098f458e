#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bench {

/// The host threads of a run's towers. Everything of a tower happens on its thread, from the
/// creation of its device to its end. The first tower uses the thread that constructs and calls
/// this object; a lone tower needs no other. Construct this object before binding that thread to
/// processors, because new threads inherit the binding.
class TowerThreads {
 public:
  explicit TowerThreads(int towers);
  ~TowerThreads();
  TowerThreads(const TowerThreads&) = delete;
  TowerThreads& operator=(const TowerThreads&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls part(tower) for 0..size()-1 concurrently, each on its tower's thread, and waits for all.
  /// If parts fail, throws the first failure. With several towers, its message begins with the
  /// tower ("tower 1: "), and a library's exception becomes DeviceError or InternalError. The
  /// thread of the first failing part calls `cancel` once, to end the waits of the others.
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
  /// False if failure_ is only a wait for a failed tower; that tower's failure then replaces it.
  bool failure_is_cause_ = false;
  int failed_tower_ = 0;
  /// Last, since the threads use all of the above.
  std::vector<std::jthread> threads_;
};

}  // namespace bench
