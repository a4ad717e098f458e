#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/plan/settings.h"
#include "variable_mgmt/towers.h"

namespace bench {

/// What the towers of a run are made from.
struct TowerSources {
  /// Of each tower, in their order.
  std::vector<Backend*> backends;
  /// The graph of tower `tower`. They differ in what chooses at random, so that all towers together
  /// choose as one device that has all their images.
  std::function<Graph(int tower)> graph;
  const ExecutorOptions& options;
  const InitialValues& values;
  /// Hears which --all_reduce_spec was chosen by time, and the figures.
  std::function<void(const std::string& spec, const std::string& figures)> chose =
      [](const std::string&, const std::string&) {};
};

/// The run's towers, with what updates the variables of a training run. Of several towers the
/// plan's choices are those of the first, so that their flat regions hold the same; `options.admit`
/// is asked before any of them takes memory.
std::unique_ptr<Towers> make_run_towers(const RunSettings& settings, TowerThreads& threads,
                                        const TowerSources& sources);

/// A run's only tower, on the caller's thread: for what looks at one.
std::unique_ptr<Towers> make_lone_tower(const RunSettings& settings, TowerThreads& threads,
                                        const Graph& graph, Backend& backend,
                                        const ExecutorOptions& options,
                                        const InitialValues& values);

}  // namespace bench
