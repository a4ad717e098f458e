#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "models/base/errors.h"
#include "variable_mgmt/world/test/fake_network.h"
#include "variable_mgmt/world/world.h"

namespace bench {

inline WorldSettings settings_of_process(std::string host,
                                         std::function<std::chrono::nanoseconds()> now) {
  return {.host = std::move(host), .now = std::move(now)};
}

/// Runs `body` as every process of the network; returns what each threw, or "". `silence` is the
/// time after which a rank takes others for lost.
inline std::vector<std::string> run_processes(
    FakeNetwork& network, const std::function<void(World&)>& body,
    const std::function<std::chrono::nanoseconds(int rank)>& silence = [](int) {
      return std::chrono::seconds(3);
    }) {
  std::vector<std::string> errors(static_cast<std::size_t>(network.size()));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < network.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        WorldSettings settings = settings_of_process(
            fmt::format("h{}", rank), [&, rank] { return network.read_clock(rank); });
        settings.silence = silence(rank);
        World world([&] { return network.connect(rank); }, std::move(settings));
        body(world);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  threads.clear();
  return errors;
}

/// Moves the network's clock while it exists, and lets the processes' threads see each time.
class Ticking {
 public:
  explicit Ticking(FakeNetwork& network)
      : thread_([&network](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            network.advance(std::chrono::milliseconds(250), stop);
          }
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace bench
