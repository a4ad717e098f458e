#include "variable_mgmt/world/test/fake_network.h"

#include <algorithm>
#include <span>

#include "models/base/errors.h"

namespace bench {

class FakeTransport final : public Transport {
 public:
  FakeTransport(FakeNetwork& network, int rank) : network_(network), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return network_.size(); }
  [[nodiscard]] std::string library() const override { return "fake"; }

  Request send(int peer, int tag, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(network_.mutex_);
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

  bool test(Request request) override {
    if (request == kSent) {
      return true;
    }
    ++network_.calls_;
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
  static constexpr Request kSent = 0;
  FakeNetwork& network_;
  const int rank_;
  Request next_ = 1;
  std::map<std::pair<int, int>, std::deque<Receive>> receives_;
  std::map<Request, std::pair<int, int>> places_;
  std::set<Request> done_;
};

std::unique_ptr<Transport> FakeNetwork::connect(int rank) {
  return std::make_unique<FakeTransport>(*this, rank);
}

void FakeNetwork::cut(int rank) {
  const std::lock_guard lock(mutex_);
  cut_.insert(rank);
}

}  // namespace bench
