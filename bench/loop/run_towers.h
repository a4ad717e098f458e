#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/plan/settings.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {

/// The parts from which the towers of a run are made.
struct TowerSources {
  /// The backend of each tower, in order.
  std::vector<Backend*> backends;
  /// The graph of tower `tower`. The graphs differ in random choices: all towers together choose
  /// like one device that has all their images.
  std::function<Graph(int tower)> graph;
  const ExecutorOptions& options;
  const InitialValues& values;
  /// The processes of the run; null: this one alone.
  World* world = nullptr;
  /// Receives the --all_reduce_spec that was chosen by time, and the times.
  std::function<void(const std::string& spec, const std::string& figures)> chose =
      [](const std::string&, const std::string&) {};
};

/// Makes the run's towers, and what updates the variables of a training run. All towers use the
/// choices of the first tower's plan, so that their flat regions are equal. Calls `options.admit`
/// before any tower allocates memory.
std::unique_ptr<Towers> make_run_towers(const RunSettings& settings, TowerThreads& threads,
                                        const TowerSources& sources);

/// Makes a run's only tower on the caller's thread, for callers that inspect a single tower.
std::unique_ptr<Towers> make_lone_tower(const RunSettings& settings, TowerThreads& threads,
                                        const Graph& graph, Backend& backend,
                                        const ExecutorOptions& options,
                                        const InitialValues& values);

}  // namespace bench
