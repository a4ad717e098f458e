#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "variable_mgmt/world/transport.h"

namespace bench {

/// A network between threads that act as processes. A message arrives when the network's clock has
/// passed its latency.
class FakeNetwork {
 public:
  explicit FakeNetwork(int size) : size_(size) {}

  [[nodiscard]] int size() const { return size_; }
  std::unique_ptr<Transport> connect(int rank);

  /// The clock of all processes.
  [[nodiscard]] std::chrono::nanoseconds now() const { return std::chrono::nanoseconds(now_); }
  void advance(std::chrono::nanoseconds by) { now_ += by.count(); }
  void set_latency(std::chrono::nanoseconds latency) { latency_ = latency.count(); }
  /// The number of calls of all transports.
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// From now on, messages from and to the rank are lost.
  void cut(int rank);

 private:
  friend class FakeTransport;
  struct Message {
    std::chrono::nanoseconds arrives;
    std::vector<std::byte> bytes;
  };

  const int size_;
  std::atomic<std::int64_t> now_ = 0;
  std::atomic<std::int64_t> latency_ = 0;
  std::atomic<std::uint64_t> calls_ = 0;
  std::mutex mutex_;
  std::set<int> cut_;
  /// By sender, receiver and tag.
  std::map<std::tuple<int, int, int>, std::deque<Message>> messages_;
};

}  // namespace bench
