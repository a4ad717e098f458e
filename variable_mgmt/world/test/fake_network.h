#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <tuple>
#include <vector>

#include "variable_mgmt/world/transport.h"

namespace bench {

/// A network between threads that act as processes. A message arrives when the network's clock has
/// passed its latency.
class FakeNetwork {
 public:
  explicit FakeNetwork(int size) : size_(size), ranks_(static_cast<std::size_t>(size)) {}

  [[nodiscard]] int size() const { return size_; }
  /// Waits until all ranks connect.
  std::unique_ptr<Transport> connect(int rank);

  /// The clock of all processes.
  [[nodiscard]] std::chrono::nanoseconds now() const { return std::chrono::nanoseconds(now_); }
  /// The clock as the rank reads it.
  [[nodiscard]] std::chrono::nanoseconds read_clock(int rank);
  void advance(std::chrono::nanoseconds by) { now_ += by.count(); }
  void set_latency(std::chrono::nanoseconds latency) { latency_ = latency.count(); }
  /// Advances the clock. Waits until all connected ranks have read it twice, or a stop.
  void advance(std::chrono::nanoseconds by, const std::stop_token& stop);
  /// The number of sums that the transport has computed, over all ranks.
  [[nodiscard]] int sums() const { return sums_begun_; }
  /// From now on, messages from and to the rank are lost.
  void cut(int rank);
  /// The same, but sending to the rank also throws DeviceError.
  void break_off(int rank);

 private:
  friend class FakeTransport;
  struct Message {
    std::chrono::nanoseconds arrives;
    std::vector<std::byte> bytes;
  };

  const int size_;
  std::atomic<std::int64_t> now_ = 0;
  std::atomic<std::int64_t> latency_ = 0;
  struct Rank {
    std::atomic<std::uint64_t> clock_reads = 0;
    std::atomic<bool> connected = false;
  };
  std::vector<Rank> ranks_;
  std::mutex mutex_;
  std::condition_variable connected_;
  int connects_ = 0;
  std::set<int> cut_;
  std::set<int> broken_;
  /// By sender, receiver and tag.
  std::map<std::tuple<int, int, int>, std::deque<Message>> messages_;
  struct Sum {
    /// By rank.
    std::vector<std::vector<std::byte>> summands = {};
    int given = 0;
  };
  /// In the order in which each rank adds.
  std::map<std::uint64_t, Sum> sums_;
  std::atomic<int> sums_begun_ = 0;
};

}  // namespace bench
