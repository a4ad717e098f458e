#include "bench/loop/run_towers.h"

#include <optional>

#include "models/base/errors.h"

namespace bench {
namespace {

TowerWithUpdate make_member(const RunSettings& settings, std::unique_ptr<Tower> tower, int number,
                            TowerMeeting& meeting) {
  TowerWithUpdate member{.tower = std::move(tower), .update = nullptr};
  if (settings.training()) {
    member.update =
        settings.strategy->make({.tower = *member.tower, .number = number, .meeting = meeting},
                                strategy_settings(settings));
  }
  return member;
}

}  // namespace

std::unique_ptr<Towers> make_run_towers(const RunSettings& settings, TowerThreads& threads,
                                        const TowerSources& sources) {
  check(sources.backends.size() == static_cast<std::size_t>(threads.size()),
        "there are not as many towers as backends");
  const Graph first = sources.graph(0);
  if (threads.size() == 1) {
    return make_lone_tower(settings, threads, first, *sources.backends.front(), sources.options,
                           sources.values);
  }
  const Plan plan(first, *sources.backends.front(), sources.options.lowering());
  if (sources.options.admit) {
    sources.options.admit(plan.memory.report);
  }
  ExecutorOptions options = sources.options;
  options.admit = {};
  options.tuner = {};
  options.pinned = &plan.lowered.choices;
  return std::make_unique<Towers>(threads, [&](int number, TowerMeeting& meeting) {
    Backend& backend = *sources.backends[static_cast<std::size_t>(number)];
    return make_member(
        settings, std::make_unique<Tower>(sources.graph(number), backend, options, sources.values),
        number, meeting);
  });
}

std::unique_ptr<Towers> make_lone_tower(const RunSettings& settings, TowerThreads& threads,
                                        const Graph& graph, Backend& backend,
                                        const ExecutorOptions& options,
                                        const InitialValues& values) {
  check(threads.size() == 1, "a lone tower has a thread of its own");
  return std::make_unique<Towers>(threads, [&](int number, TowerMeeting& meeting) {
    return make_member(settings, std::make_unique<Tower>(graph, backend, options, values), number,
                       meeting);
  });
}

}  // namespace bench
