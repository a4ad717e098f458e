#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/flags/flags.h"

namespace bench {

/// A launcher that can start bench.
struct Launcher {
  std::string mpi;  ///< openmpi or mpich.
  std::string program;
};

/// A host and the processes that run on it.
struct HostPlaces {
  std::string host;
  int processes = 1;
};

/// Parses --hosts. Throws UsageError.
std::vector<HostPlaces> parse_hosts(std::string_view text);

/// Returns the launcher's command line for --np and --hosts. `command_line` begins with bench's own
/// path. Throws UsageError if the hosts have fewer slots than processes are wanted.
std::vector<std::string> launch_words(const Launcher& launcher, const Flags& flags,
                                      const std::vector<std::string>& command_line, bool as_root);

/// True if this process starts a launcher for each run of --scaling_sweep.
bool starts_launchers(const Flags& flags);

/// If --np or --hosts is given and no launcher started this process, runs the launcher and returns
/// the exit status. Otherwise returns nullopt at once. Throws UsageError if no launcher is found.
std::optional<int> start_processes(const Flags& flags,
                                   const std::vector<std::string>& command_line);

/// Throws UsageError if --np or --hosts names another number of processes than `size`.
void check_number_of_processes(const Flags& flags, int size);

}  // namespace bench
