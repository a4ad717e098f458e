#pragma once

#include <memory>

#include "bench/loop/run_towers.h"

namespace bench {

/// The only tower of a run, and its update strategy.
class LoneTower {
 public:
  LoneTower(const RunSettings& settings, const Graph& graph, Backend& backend,
            const ExecutorOptions& options, const InitialValues& values)
      : towers_(make_lone_tower(settings, threads_, graph, backend, options, values)) {}

  Towers& towers() { return *towers_; }
  Tower& tower() { return towers_->first(); }
  Executor& executor() { return tower().executor(); }
  UpdateStrategy& update() { return *towers_->update(0); }

 private:
  TowerThreads threads_{1};
  std::unique_ptr<Towers> towers_;
};

}  // namespace bench
