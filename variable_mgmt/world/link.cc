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

/// The workers that this one sends to and receives from.
struct Partners {
  int target = 0;
  int source = 0;
};

/// Every worker sends to the one a number of ranks further, for which most are on another host.
Partners partners_of(const World& world) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < world.workers(); ++rank) {
    hosts.push_back(world.host(rank));
  }
  std::size_t best = 1;
  std::size_t most = 0;
  for (std::size_t offset = 1; offset < hosts.size() && most < hosts.size(); ++offset) {
    std::size_t apart = 0;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      apart += hosts[rank] == hosts[(rank + offset) % hosts.size()] ? 0 : 1;
    }
    if (apart > most) {
      best = offset;
      most = apart;
    }
  }
  const int offset = static_cast<int>(best);
  return {.target = (world.rank() + offset) % world.workers(),
          .source = (world.rank() + world.workers() - offset) % world.workers()};
}

/// Exchanges messages with two other workers at the same time.
class ExchangeTask final : public WorldTask {
 public:
  ExchangeTask(const Partners& partners, std::size_t bytes, int messages,
               const std::function<nanoseconds()>& now)
      : target_(partners.target),
        source_(partners.source),
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
    const bool moved = drop_done(transport, requests_);
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
double time_of(World& world, const Partners& partners, std::size_t bytes, int messages,
               const std::function<nanoseconds()>& now) {
  constexpr int kExchanges = 5;
  std::vector<double> times;
  for (int i = 0; i < kExchanges; ++i) {
    world.gather("");  // All begin together.
    const auto task = std::make_shared<ExchangeTask>(partners, bytes, messages, now);
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

Link fit_link(const TimedSize& small, const TimedSize& large, const TimedSize& between) {
  // Noise may make the larger one the faster one.
  const double rise = std::max(large.seconds - small.seconds, 1e-9);
  const double per_byte = rise / (large.bytes - small.bytes);
  const double latency = std::max(small.seconds - per_byte * small.bytes, 0.0);
  const double expected = latency + per_byte * between.bytes;
  return {.latency = latency,
          .bytes_per_second = 1 / per_byte,
          .error = std::abs(expected - between.seconds) / std::max(between.seconds, 1e-9)};
}

Link steady_fit(const std::function<Link()>& fit) {
  constexpr double kGood = 0.2;
  constexpr int kMost = 3;
  Link best = fit();
  for (int fits = 1; fits < kMost && best.error >= kGood; ++fits) {
    const Link next = fit();
    best = next.error < best.error ? next : best;
  }
  return best;
}

Link measure_link(World& world, const std::function<nanoseconds()>& now) {
  check(world.workers() > 1, "a link needs two workers");
  constexpr std::size_t kEmpty = 1;
  constexpr int kMessages = 33;
  // About the size of a bucket's part; less on a slow link.
  constexpr std::size_t kChunk = std::size_t{64} << 10U;
  constexpr std::size_t kSmallChunk = std::size_t{8} << 10U;
  constexpr double kSlow = 0.02;
  constexpr int kFewest = 4;
  constexpr double kLongest = 0.2;
  const Partners partners = partners_of(world);
  const auto time = [&](std::size_t bytes, int messages) {
    return time_of(world, partners, bytes, messages, now);
  };
  time(kEmpty, 1);  // Opens the connections.
  const double one = time(kEmpty, 1);
  const double per_message = std::max(time(kEmpty, kMessages) - one, 0.0) / (kMessages - 1);
  const bool is_slow = time(kSmallChunk, 1) > kSlow * kSmallChunk / kChunk;
  const std::size_t chunk = is_slow ? kSmallChunk : kChunk;
  const auto of_chunks = [&](int chunks) {
    return TimedSize{.bytes = static_cast<double>(chunk) * chunks,
                     .seconds = time(chunk, chunks) - (chunks - 1) * per_message};
  };
  Link link = steady_fit([&] {
    const TimedSize few = of_chunks(kFewest);
    const double times = std::clamp(kLongest / std::max(few.seconds, 1e-6), 4.0, 16.0);
    const int most = kFewest * static_cast<int>(times);
    return fit_link(few, of_chunks(most), of_chunks(most / 2));
  });
  link.latency = one;
  link.per_message = per_message;
  return link;
}

}  // namespace bench
