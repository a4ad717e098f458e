#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"
#include "kernels/executor.h"
#include "variable_mgmt/world/link.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// An error that every rank throws, so only rank 0 prints it.
class WorldRefusal : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The processes of a run.
struct RunWorld {
  std::unique_ptr<World> world;
  /// What started the processes.
  std::string launcher = {};
  std::vector<std::string> warnings = {};
  /// The ids of the run's other processes on this host.
  std::set<std::int64_t> neighbours = {};
  /// Set if the processes add gradients.
  std::optional<Link> link = {};

  [[nodiscard]] bool several() const { return world->size() > 1; }
  /// The world of several processes; null for a single process.
  [[nodiscard]] World* others() const { return several() ? world.get() : nullptr; }
  [[nodiscard]] bool prints() const { return world->rank() == 0; }
};

/// A single process.
inline RunWorld alone() { return {.world = std::make_unique<World>()}; }

/// True if a launcher started this process.
bool is_launched();

/// The name of this host, or "unknown".
std::string host_name();

/// Joins the processes that a launcher started with this one. Waits for them. Throws UsageError if
/// the launcher's MPI cannot be used.
RunWorld join_world();

/// If several processes may use the same processors of a host, divides these among them. Waits for
/// all ranks. Throws DeviceError.
void share_hosts(RunWorld& joined);

/// Throws WorldRefusal on all ranks if `error` is not empty on any of them. Waits for all ranks.
void refuse_together(World& world, const std::string& error);

/// Throws WorldRefusal on all ranks if `make` throws UsageError on any of them; else returns what
/// it returns. Waits for all ranks.
template <class Make>
auto agreed(World& world, const Make& make) {
  if (world.size() == 1) {
    return make();
  }
  std::unique_ptr<decltype(make())> made;  // Not on the stack, which may be small.
  std::string error;
  try {
    made = std::make_unique<decltype(make())>(make());
  } catch (const UsageError& refused) {
    error = refused.what();
  }
  refuse_together(world, error);
  return std::move(*made);
}

/// Throws WorldRefusal if a rank runs another build of bench than rank 0.
void check_equal_builds(World& world);

/// Throws WorldRefusal if a rank was started with other flags than rank 0.
void check_equal_flags(World& world, const ParseResult& parsed);

/// Throws WorldRefusal if a rank's variables or gradients have other layouts or places than rank
/// 0's: their elements could not be added.
void check_equal_regions(World& world, const Executor& executor);

/// Throws WorldRefusal, which ends with the remedy, if a rank's text is not rank 0's. The texts
/// follow the ranks' names: "computes on cpu". `why` is added in brackets, but not compared. Waits
/// for all ranks.
void check_same(World& world, const std::string& own, std::string_view remedy,
                const std::string& why = "");

/// The index of this process's first GPU, if each process uses `towers` GPUs of its host that no
/// other one uses. Throws WorldRefusal if there are too few, or if two would use one. Waits for all
/// ranks.
int first_gpu_of(World& world, int towers);

/// Gives each process of a host different GPUs, if the processes compute on GPUs, and an ID to
/// NCCL. With virtual towers, processes may share a GPU. Throws WorldRefusal if there are too few,
/// or if ranks compute or add in different ways. Waits for all ranks.
void share_gpus(RunSettings& settings, const Flags& flags, World& world);

/// Throws WorldRefusal for flags that are not supported yet for several processes, if there are
/// several. Waits for all ranks.
void check_built_in_world(World& world, const ParseResult& parsed);

/// Adapts the settings to this process of the world: ranks other than 0 print and write nothing.
/// Throws UsageError for a device that is not supported yet for several processes.
void settle_in_world(RunSettings& settings, const World& world);

}  // namespace bench
