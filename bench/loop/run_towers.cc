#include "bench/loop/run_towers.h"

#include <string>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/trial.h"

namespace bench {
namespace {

TowerWithUpdate make_member(const RunSettings& settings, std::unique_ptr<Tower> tower, int number,
                            TowerCommunicator& communicator) {
  TowerWithUpdate member{.tower = std::move(tower), .update = nullptr};
  if (settings.workload.training()) {
    member.update = settings.workload.strategy->make(
        {.tower = *member.tower, .number = number, .communicator = communicator},
        strategy_settings(settings));
  }
  return member;
}

/// Returns the algorithm that adds such gradients the fastest, and reports the times.
std::vector<AllReduceRange> timed_algorithm(const RunSettings& settings, TowerThreads& threads,
                                            const TowerSources& sources, const Plan& plan,
                                            std::string& told) {
  const SumSettings sums = strategy_settings(settings).sums;
  TrialPlan trial_plan{.names = {},
                       .specs = specs_to_try(threads.size()),
                       .elements = {},
                       .dtype = sums.narrow.value_or(settings.workload.optimizer.dtype),
                       .ring_order = sums.ring_order,
                       .nccl_timeout = sums.nccl_timeout};
  if (settings.execution.sharing.nccl_timed) {
    trial_plan.specs.push_back({{.algorithm = "nccl"}});
  }
  for (int tower = 0; tower < threads.size(); ++tower) {
    trial_plan.names.push_back(fmt::format("tower {}", tower));
  }
  for (const SumPiece& piece :
       sum_pieces(optimizer_segments(plan), settings.workload.optimizer.dtype, sums)) {
    trial_plan.elements.push_back(piece.bytes.bytes / size_of(settings.workload.optimizer.dtype));
  }
  AllReduceTrial trial(std::move(trial_plan));
  threads.run(
      [&](int tower) {
        Backend& backend = *sources.backends[static_cast<std::size_t>(tower)];
        const auto stream = backend.make_stream();
        trial.run(tower, backend, *stream, {});
      },
      [&](int tower) { trial.cancel(tower, "it failed"); });
  const std::vector<AllReduceTiming> timings = trial.timings();
  told = describe_choice(timings);
  return quickest(timings).spec;
}

}  // namespace

std::unique_ptr<Towers> make_run_towers(const RunSettings& settings, TowerThreads& threads,
                                        const TowerSources& sources) {
  check(sources.backends.size() == static_cast<std::size_t>(threads.size()),
        "the numbers of towers and backends differ");
  const Graph first = sources.graph(0);
  if (threads.size() == 1 && sources.world == nullptr) {
    return make_lone_tower(settings, threads, first, *sources.backends.front(), sources.options,
                           sources.values);
  }
  const Plan plan(first, *sources.backends.front(), sources.options.lowering());
  if (sources.options.admit) {
    sources.options.admit(plan);
  }
  RunSettings chosen = settings;
  if (settings.workload.training() && settings.execution.sharing.timed) {
    std::string told;
    chosen.execution.sharing.sums.spec = timed_algorithm(settings, threads, sources, plan, told);
    sources.chose(text_of(chosen.execution.sharing.sums.spec), told);
  }
  ExecutorOptions options = sources.options;
  options.admit = {};
  options.tuner = {};
  options.pinned = &plan.lowered.choices;
  const auto make = [&](int number, TowerCommunicator& communicator) {
    Backend& backend = *sources.backends[static_cast<std::size_t>(number)];
    return make_member(
        chosen, std::make_unique<Tower>(sources.graph(number), backend, options, sources.values),
        number, communicator);
  };
  return std::make_unique<Towers>(
      threads, make, all_reduces(chosen.workload) ? chosen.execution.sharing.sums : SumSettings{},
      sources.world);
}

std::unique_ptr<Towers> make_lone_tower(const RunSettings& settings, TowerThreads& threads,
                                        const Graph& graph, Backend& backend,
                                        const ExecutorOptions& options,
                                        const InitialValues& values) {
  check(threads.size() == 1, "a lone tower needs exactly one thread");
  const auto make = [&](int number, TowerCommunicator& communicator) {
    return make_member(settings, std::make_unique<Tower>(graph, backend, options, values), number,
                       communicator);
  };
  // A single tower adds nothing, unless NCCL is tried.
  const bool tries_nccl = settings.execution.device == RunDevice::gpu &&
                          all_reduces(settings.workload) &&
                          adds_by_nccl(settings.execution.sharing.sums.spec);
  return std::make_unique<Towers>(threads, make,
                                  tries_nccl ? settings.execution.sharing.sums : SumSettings{});
}

}  // namespace bench
