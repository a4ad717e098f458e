#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/loop/run_towers.h"
#include "bench/plan/network.h"

namespace bench {

/// The towers of a run, on backends that are made on their threads but destroyed on the test's
/// thread.
class SeveralTowers {
 public:
  SeveralTowers(const RunSettings& settings,
                const std::function<std::unique_ptr<Backend>(int tower)>& make_backend,
                const InitialValues& values)
      : threads_(settings.workload.towers),
        backends_(static_cast<std::size_t>(settings.workload.towers)) {
    threads_.run(
        [&](int tower) { backends_[static_cast<std::size_t>(tower)] = make_backend(tower); });
    const ExecutorOptions options{.format = settings.execution.format,
                                  .pixels = settings.execution.lowering().pixels};
    TowerSources sources{.backends = {},
                         .graph =
                             [&](int tower) {
                               return build_run_graph(of_tower(settings, tower), *backends_.front(),
                                                      images_at_once(settings));
                             },
                         .options = options,
                         .values = values};
    for (const auto& backend : backends_) {
      sources.backends.push_back(backend.get());
    }
    towers_ = make_run_towers(settings, threads_, sources);
  }

  Towers& operator*() { return *towers_; }

 private:
  TowerThreads threads_;
  std::vector<std::unique_ptr<Backend>> backends_;
  std::unique_ptr<Towers> towers_;
};

}  // namespace bench
