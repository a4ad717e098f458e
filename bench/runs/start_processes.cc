#include "bench/runs/start_processes.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "bench/flags/table.h"
#include "bench/plan/record_settings.h"
#include "bench/runs/launcher_process.h"
#include "bench/runs/roles.h"
#include "bench/runs/run_world.h"
#include "kernels/gpu_provider.h"
#include "models/base/errors.h"

namespace bench {
namespace {

bool asks_for_processes(const Flags& flags) {
  return (flags.np || flags.hosts) && !starts_launchers(flags);
}

std::vector<HostPlaces> hosts_asked(const Flags& flags) {
  return flags.hosts ? parse_hosts(*flags.hosts) : std::vector<HostPlaces>();
}

/// The number of processes that the flags ask for.
std::int64_t processes_asked(const Flags& flags, const std::vector<HostPlaces>& hosts) {
  const auto places = std::accumulate(
      hosts.begin(), hosts.end(), std::int64_t{0},
      [](std::int64_t sum, const HostPlaces& host) { return sum + host.processes; });
  if (flags.np && !hosts.empty() && places < *flags.np) {
    throw UsageError(fmt::format("--hosts={} has {} slots, but --np={} asks for more", *flags.hosts,
                                 places, *flags.np));
  }
  return flags.np.value_or(places);
}

/// The path of a program in PATH.
std::optional<std::string> find_program(std::string_view name) {
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : split_text(path == nullptr ? "" : path, ':')) {
    std::string file = fmt::format("{}/{}", folder, name);
    if (access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return std::nullopt;
}

/// The first MPI that has both a launcher and a plug-in.
Launcher find_launcher() {
  const char* const wanted = std::getenv("BENCH_MPI");
  std::string missing;
  for (const char* const mpi : {"openmpi", "mpich"}) {
    if (wanted != nullptr && std::string_view(wanted) != mpi) {
      continue;
    }
    const auto program = find_program(fmt::format("mpirun.{}", mpi));
    const auto plugin = plugin_folder() / fmt::format("libbench_{}.so", mpi);
    if (program && std::filesystem::exists(plugin)) {
      return {.mpi = mpi, .program = *program};
    }
    missing += fmt::format("{}{}", missing.empty() ? "" : "; ",
                           program ? fmt::format("bench was built without {}", plugin.string())
                                   : fmt::format("mpirun.{} is not in PATH", mpi));
  }
  throw UsageError(fmt::format(
      "--np and --hosts need an MPI launcher: {}; bench/manual/HOSTS.md says what to install, or "
      "start bench with your launcher and without these flags",
      missing.empty() ? fmt::format("BENCH_MPI={}: expected openmpi or mpich", wanted) : missing));
}

}  // namespace

bool starts_launchers(const Flags& flags) {
  return flags.scaling_sweep && std::getenv(kScalingVariable) == nullptr && !is_launched();
}

std::vector<HostPlaces> parse_hosts(std::string_view text) {
  std::vector<HostPlaces> hosts;
  for (const std::string& word : split_text(text, ',')) {
    const std::size_t colon = word.find(':');
    HostPlaces host{.host = word.substr(0, colon)};
    bool good = !host.host.empty() && host.host.front() != '-' &&
                host.host.find_first_of(" \t") == std::string::npos;
    if (colon != std::string::npos) {
      const char* const end = word.data() + word.size();
      const auto [at, error] = std::from_chars(word.data() + colon + 1, end, host.processes);
      good = good && error == std::errc() && at == end && host.processes > 0;
    }
    if (!good) {
      throw UsageError(
          fmt::format("--hosts={}: '{}' is not a host; expected names and processes, such as "
                      "a:8,b:8",
                      text, word));
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

std::vector<std::string> launch_words(const Launcher& launcher, const Flags& flags,
                                      const std::vector<std::string>& command_line, bool as_root) {
  const auto hosts = hosts_asked(flags);
  const std::int64_t processes = processes_asked(flags, hosts);
  std::vector<std::string> words{launcher.program, "-np", std::to_string(processes)};
  const bool open_mpi = launcher.mpi == "openmpi";
  if (open_mpi) {
    words.insert(words.end(), {"--bind-to", "none"});
    if (as_root) {
      words.emplace_back("--allow-run-as-root");
    }
  }
  std::string list;
  for (const HostPlaces& host : hosts) {
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", host.host, host.processes);
  }
  if (!list.empty()) {
    words.insert(words.end(), {open_mpi ? "--host" : "-hosts", list});
    if (open_mpi) {
      // Notices a host without network after 1 + 2 * 1 seconds, instead of minutes.
      words.insert(words.end(), {"--mca", "oob_tcp_keepalive_time", "1"});
      words.insert(words.end(), {"--mca", "oob_tcp_keepalive_intvl", "1"});
      words.insert(words.end(), {"--mca", "oob_tcp_keepalive_probes", "2"});
    }
  } else if (open_mpi) {
    words.emplace_back("--oversubscribe");  // bench itself warns of too few processors.
  }
  words.insert(words.end(), command_line.begin(), command_line.end());
  return words;
}

std::optional<int> start_processes(const Flags& flags,
                                   const std::vector<std::string>& command_line) {
  if (!asks_for_processes(flags) || is_launched()) {
    return std::nullopt;
  }
  roles_of(flags, static_cast<int>(processes_asked(flags, hosts_asked(flags))));
  std::vector<std::string> own = command_line;
  own.front() = std::filesystem::read_symlink("/proc/self/exe").string();
  const Launcher launcher = find_launcher();
  return run_launcher(launch_words(launcher, flags, own, geteuid() == 0),
                      launcher.mpi == "openmpi");
}

void check_number_of_processes(const Flags& flags, int size) {
  if (!asks_for_processes(flags)) {
    return;
  }
  const auto hosts = hosts_asked(flags);
  if (const std::int64_t asked = processes_asked(flags, hosts); asked != size) {
    throw UsageError(fmt::format(
        "--np or --hosts asks for {} processes, but the launcher started {}: omit these "
        "flags, or start bench without a launcher",
        asked, size));
  }
}

}  // namespace bench
