#include "variable_mgmt/world/test/fake_network.h"

#include <algorithm>
#include <span>
#include <thread>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/reduce.h"

namespace bench {

class FakeTransport final : public Transport {
 public:
  FakeTransport(FakeNetwork& network, int rank) : network_(network), rank_(rank) {}

  ~FakeTransport() override { network_.ranks_[static_cast<std::size_t>(rank_)].connected = false; }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return network_.size(); }
  [[nodiscard]] std::string library() const override { return "fake"; }

  Request send(int peer, int tag, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(network_.mutex_);
    if (network_.broken_.contains(peer)) {
      throw DeviceError("send: the endpoint timed out");
    }
    if (!network_.cut_.contains(rank_) && !network_.cut_.contains(peer)) {
      network_.messages_[{rank_, peer, tag}].push_back(
          {.arrives = network_.now() + std::chrono::nanoseconds(network_.latency_),
           .bytes = {bytes.begin(), bytes.end()}});
    }
    return kSent;
  }

  Request receive(int peer, int tag, std::span<std::byte> bytes) override {
    const Request request = next_++;
    receives_[{peer, tag}].push_back({.request = request, .bytes = bytes});
    places_[request] = {peer, tag};
    return request;
  }

  Request all_reduce(DType dtype, std::span<std::byte> elements) override {
    ++network_.sums_begun_;
    const std::lock_guard lock(network_.mutex_);
    auto& sum = network_.sums_[sums_];
    sum.summands.resize(static_cast<std::size_t>(size()));
    sum.summands[static_cast<std::size_t>(rank_)] = {elements.begin(), elements.end()};
    ++sum.given;
    const Request request = next_++;
    adds_[request] = {.number = sums_++, .dtype = dtype, .elements = elements};
    return request;
  }

  bool test(Request request) override {
    if (request == kSent) {
      return true;
    }
    if (const auto add = adds_.find(request); add != adds_.end()) {
      if (!test(add->second)) {
        return false;
      }
      adds_.erase(add);
      return true;
    }
    const auto [peer, tag] = places_.at(request);
    auto& waiting = receives_.at({peer, tag});
    const std::lock_guard lock(network_.mutex_);
    auto& messages = network_.messages_[{peer, rank_, tag}];
    while (!messages.empty() && !waiting.empty() && messages.front().arrives <= network_.now()) {
      check(messages.front().bytes.size() == waiting.front().bytes.size(),
            "the message has another size");
      std::copy(messages.front().bytes.begin(), messages.front().bytes.end(),
                waiting.front().bytes.begin());
      done_.insert(waiting.front().request);
      messages.pop_front();
      waiting.pop_front();
    }
    if (done_.erase(request) == 0) {
      return false;
    }
    places_.erase(request);
    return true;
  }

  void finish() override {}

 private:
  struct Receive {
    Request request;
    std::span<std::byte> bytes;
  };
  struct Add {
    std::uint64_t number = 0;
    DType dtype = DType::f32;
    std::span<std::byte> elements;
  };

  bool test(const Add& add) {
    const std::lock_guard lock(network_.mutex_);
    const FakeNetwork::Sum& sum = network_.sums_.at(add.number);
    if (sum.given < size()) {
      return false;
    }
    std::vector<const void*> sources;
    for (const auto& summand : sum.summands) {
      check(summand.size() == add.elements.size(), "the processes add different buffers");
      sources.push_back(summand.data());
    }
    void* const target = add.elements.data();
    reduce({.dtype = add.dtype,
            .count = add.elements.size() / size_of(add.dtype),
            .sources = sources,
            .targets = std::span(&target, 1)});
    return true;
  }

  static constexpr Request kSent = 0;
  FakeNetwork& network_;
  const int rank_;
  Request next_ = 1;
  std::map<std::pair<int, int>, std::deque<Receive>> receives_;
  std::map<Request, std::pair<int, int>> places_;
  std::set<Request> done_;
  std::map<Request, Add> adds_;
  std::uint64_t sums_ = 0;
};

std::unique_ptr<Transport> FakeNetwork::connect(int rank) {
  auto transport = std::make_unique<FakeTransport>(*this, rank);
  ranks_.at(static_cast<std::size_t>(rank)).connected = true;
  std::unique_lock lock(mutex_);
  ++connects_;
  connected_.notify_all();
  connected_.wait(lock, [this] { return connects_ >= size_; });
  return transport;
}

std::chrono::nanoseconds FakeNetwork::read_clock(int rank) {
  const std::chrono::nanoseconds time = now();
  ++ranks_.at(static_cast<std::size_t>(rank)).clock_reads;
  return time;
}

void FakeNetwork::advance(std::chrono::nanoseconds by, const std::stop_token& stop) {
  advance(by);
  for (Rank& rank : ranks_) {
    const std::uint64_t before = rank.clock_reads;
    while (rank.connected && rank.clock_reads < before + 2 && !stop.stop_requested()) {
      std::this_thread::yield();
    }
  }
}

void FakeNetwork::break_off(int rank) {
  cut(rank);
  const std::lock_guard lock(mutex_);
  broken_.insert(rank);
}

void FakeNetwork::cut(int rank) {
  const std::lock_guard lock(mutex_);
  cut_.insert(rank);
}

}  // namespace bench
