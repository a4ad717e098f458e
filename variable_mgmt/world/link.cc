#include "variable_mgmt/world/link.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "variable_mgmt/world/tags.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

/// Exchanges messages with two other workers at the same time.
class ExchangeTask final : public WorldTask {
 public:
  ExchangeTask(const World& world, std::size_t bytes, int messages,
               const std::function<nanoseconds()>& now)
      : target_((world.rank() + world.workers() / 2) % world.workers()),
        source_((world.rank() + world.workers() - world.workers() / 2) % world.workers()),
        bytes_(bytes),
        messages_(messages),
        now_(now),
        sent_(bytes),
        received_(bytes * static_cast<std::size_t>(messages)) {}

  State advance(Transport& transport) override {
    if (!begun_at_) {
      begun_at_ = now_();
      for (int message = 0; message < messages_; ++message) {
        const std::size_t offset = bytes_ * static_cast<std::size_t>(message);
        requests_.push_back(
            transport.receive(source_, tag::kTrial, std::span(received_).subspan(offset, bytes_)));
        requests_.push_back(transport.send(target_, tag::kTrial, sent_));
      }
      return State::working;
    }
    const bool moved = std::erase_if(requests_, [&](Transport::Request request) {
                         return transport.test(request);
                       }) > 0;
    if (!requests_.empty()) {
      return moved ? State::working : State::idle;
    }
    elapsed_.set_value(now_() - *begun_at_);
    return State::done;
  }
  void cancel(const std::string& reason) noexcept override {
    elapsed_.set_exception(std::make_exception_ptr(Cancelled(reason)));
  }
  std::future<nanoseconds> elapsed() { return elapsed_.get_future(); }

 private:
  const int target_;
  const int source_;
  const std::size_t bytes_;
  const int messages_;
  const std::function<nanoseconds()> now_;
  std::vector<std::byte> sent_;
  std::vector<std::byte> received_;
  std::optional<nanoseconds> begun_at_;
  std::vector<Transport::Request> requests_;
  std::promise<nanoseconds> elapsed_;
};

/// The slowest worker's median of some exchanges, in seconds.
double time_of(World& world, std::size_t bytes, int messages,
               const std::function<nanoseconds()>& now) {
  constexpr int kExchanges = 5;
  std::vector<double> times;
  for (int i = 0; i < kExchanges; ++i) {
    world.gather("");  // All begin together.
    const auto task = std::make_shared<ExchangeTask>(world, bytes, messages, now);
    std::future<nanoseconds> elapsed = task->elapsed();
    world.submit(task);
    times.push_back(std::chrono::duration<double>(elapsed.get()).count());
  }
  std::nth_element(times.begin(), times.begin() + kExchanges / 2, times.end());
  double slowest = 0;
  for (const std::string& time : world.gather(fmt::format("{}", times[kExchanges / 2]))) {
    slowest = std::max(slowest, std::strtod(time.c_str(), nullptr));
  }
  return slowest;
}

}  // namespace

Link fit_link(std::size_t small, double small_time, std::size_t large, double large_time,
              std::size_t between, double between_time) {
  // Noise may make the larger message the faster one.
  const double rise = std::max(large_time - small_time, 1e-9);
  const double per_byte = rise / static_cast<double>(large - small);
  const double latency = std::max(small_time - per_byte * static_cast<double>(small), 0.0);
  const double expected = latency + per_byte * static_cast<double>(between);
  return {.latency = latency,
          .bytes_per_second = 1 / per_byte,
          .error = std::abs(expected - between_time) / between_time};
}

Link measure_link(World& world, const std::function<nanoseconds()>& now) {
  check(world.workers() > 1, "a link needs two workers");
  constexpr std::size_t kEmpty = 1;
  constexpr int kMessages = 33;
  // About the size of a bucket's part.
  constexpr std::size_t kChunk = std::size_t{64} << 10U;
  constexpr int kFewest = 4;
  constexpr double kLongest = 0.2;
  time_of(world, kEmpty, 1, now);  // Opens the connections.
  const double one = time_of(world, kEmpty, 1, now);
  const double many = time_of(world, kEmpty, kMessages, now);
  const auto time_of_chunks = [&](int chunks) { return time_of(world, kChunk, chunks, now); };
  const double few_time = time_of_chunks(kFewest);
  const int most = kFewest * static_cast<int>(std::clamp(kLongest / few_time, 4.0, 16.0));
  const int between = most / 2;
  Link link = fit_link(kFewest * kChunk, few_time, static_cast<std::size_t>(most) * kChunk,
                       time_of_chunks(most), static_cast<std::size_t>(between) * kChunk,
                       time_of_chunks(between));
  link.latency = one;
  link.per_message = std::max(many - one, 0.0) / (kMessages - 1);
  return link;
}

}  // namespace bench
