#pragma once

#include <functional>
#include <optional>
#include <string>

namespace bench {

/// Returns the value of an environment variable, or nullopt if it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const char* name)>;

/// The variable that chooses the plug-in: openmpi, mpich, or none.
inline constexpr const char* kMpiVariable = "BENCH_MPI";

/// How a launcher started this process as one of several.
struct Launch {
  /// "openmpi" or "mpich": the plug-in to open.
  std::string library;
  /// The launcher, for messages and the record: "mpirun of Open MPI", "srun".
  std::string launcher;
  /// The number of processes that it started, if it says so.
  std::optional<int> size;
  /// This process's rank, if it says so.
  std::optional<int> rank;
};

/// True if a launcher of an MPI started this process.
bool is_launched(const EnvironmentLookup& environment);

/// Returns how the process was started, from the launcher's variables; nullopt for a single
/// process. BENCH_MPI=openmpi|mpich|none overrides it. Throws UsageError for launchers that bench
/// does not support, and for srun without PMI.
std::optional<Launch> find_launch(const EnvironmentLookup& environment);

}  // namespace bench
