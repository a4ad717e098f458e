// Runs as each process of a world that an MPI launcher started: exchanges texts and adds numbers.
// mpi_world FOLDER: the folder of the plug-ins. With "lose RANK", that rank kills itself.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "variable_mgmt/collectives/test/members.h"
#include "variable_mgmt/world/launch.h"
#include "variable_mgmt/world/mpi_transport.h"
#include "variable_mgmt/world/remote_sum.h"

namespace bench {
namespace {

constexpr int kLost = 75;

std::string host_name() {
  std::string name(256, '\0');
  return gethostname(name.data(), name.size()) == 0 ? name.c_str() : "unknown";
}

void add(World& world, const std::vector<AllReduceRange>& spec) {
  constexpr int kTowers = 2;
  constexpr std::size_t kElements = 100000;
  const auto collective =
      make_world_collective(world, {.names = tower_names(kTowers), .spec = spec});
  const auto failures = run_members(*collective, [&](const TestMember& member) {
    const int tower = kTowers * world.rank() + member.rank;
    std::vector<std::vector<float>> views(5, std::vector<float>(kElements));
    std::vector<CollectiveMember::Handle> handles;
    for (std::size_t i = 0; i < views.size(); ++i) {
      views[i].assign(kElements, static_cast<float>(tower + 1) * static_cast<float>(i + 1));
      handles.push_back(member.member.start(
          {.data = views[i].data(), .elements = kElements, .dtype = DType::f32, .index = i}));
    }
    const int towers = kTowers * world.size();
    for (std::size_t i = 0; i < views.size(); ++i) {
      member.member.wait(handles[i], test_patience());
      const float expected =
          static_cast<float>(towers * (towers + 1) / 2) * static_cast<float>(i + 1);
      for (const float value : views[i]) {
        if (value != expected) {
          throw InternalError(fmt::format("a sum is {}, not {}", value, expected));
        }
      }
    }
  });
  for (const std::string& failure : failures) {
    if (!failure.empty()) {
      throw DeviceError(failure);
    }
  }
}

int run(const std::string& folder, int lost) {
  const auto launch = find_launch([](const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
  if (!launch) {
    std::cout << "no launcher started this process\n";
    return 0;
  }
  World world([&] { return open_mpi(*launch, folder); },
              {.host = host_name(),
               .now = [] { return std::chrono::steady_clock::now().time_since_epoch(); }});
  if (world.rank() == lost) {
    kill(getpid(), SIGKILL);
  }
  try {
    add(world, {});
    add(world, {{.algorithm = "mpi"}});
    world.agree("");
    if (world.rank() == 0) {
      std::cout << fmt::format("{} processes added by {}\n", world.size(), world.library());
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << fmt::format("rank {}: {}\n", world.rank(), error.what());
    _exit(kLost);
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argv[1], argc > 3 ? std::atoi(argv[3]) : -1);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
