#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "kernels/backend.h"
#include "models/base/errors.h"

namespace bench {

/// A thread that runs work while the caller waits.
class Worker {
 public:
  Worker() : thread_([this] { serve(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    tell({});
    thread_.join();
  }
  /// Rethrows an exception of the work.
  void run(const std::function<void()>& work) {
    tell(work);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
    if (const std::exception_ptr error = std::exchange(error_, nullptr)) {
      std::rethrow_exception(error);
    }
  }

 private:
  void tell(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    busy_ = true;
    changed_.notify_all();
  }
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return busy_; });
      if (!work_) {
        return;
      }
      try {
        work_();
      } catch (...) {
        error_ = std::current_exception();
      }
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool busy_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

/// Maps addresses of the host to memory of the device.
class AddressBook {
 public:
  void add(std::byte* address, std::byte* memory, std::size_t bytes) {
    entries_[address] = {.memory = memory, .bytes = bytes};
  }
  void remove(std::byte* address) { entries_.erase(address); }
  /// The device's memory for an address that the host received.
  [[nodiscard]] std::byte* find(const void* address, std::size_t bytes) const {
    const auto* const wanted = static_cast<const std::byte*>(address);
    auto entry = entries_.upper_bound(const_cast<std::byte*>(wanted));  // NOLINT(*-const-cast)
    const bool before = entry == entries_.begin();
    if (!before) {
      --entry;
    }
    check(!before && wanted + bytes <= entry->first + entry->second.bytes,
          "far device: the work was given memory that is not the device's, or not any more");
    return entry->second.memory + (wanted - entry->first);
  }
  [[nodiscard]] TensorView find(const TensorView& view) const {
    return view.bytes == 0 ? TensorView{}
                           : TensorView{.data = find(view.data, view.bytes), .bytes = view.bytes};
  }

 private:
  struct Entry {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };
  std::map<std::byte*, Entry> entries_;
};

}  // namespace bench
