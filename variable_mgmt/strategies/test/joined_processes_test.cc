// The same invariant with towers in several processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/test/scratch_folder.h"
#include "variable_mgmt/strategies/test/joined_towers.h"
#include "variable_mgmt/world/test/processes.h"

namespace bench {
namespace {

struct Processes {
  int count;
  int towers;
};
constexpr std::array kProcesses{Processes{1, 4}, Processes{2, 1}, Processes{2, 2}, Processes{3, 1},
                                Processes{4, 1}};

/// Runs every process. Returns the results by rank.
std::vector<JoinedResult> run_processes_of(const JoinedRun& run, const Processes& processes) {
  std::vector<JoinedResult> results(static_cast<std::size_t>(processes.count));
  FakeNetwork network(processes.count);
  const auto errors = run_processes(network, [&](World& world) {
    JoinedRun own = run;
    own.towers = processes.towers;
    own.world = processes.count == 1 ? nullptr : &world;
    results[static_cast<std::size_t>(world.rank())] = run_joined(own);
  });
  EXPECT_THAT(errors, testing::Each(""));
  return results;
}

void expect_invariant(JoinedRun run, double tolerance) {
  for (const GradientReduction reduction : {GradientReduction::mean, GradientReduction::sum}) {
    for (const Processes& processes : kProcesses) {
      run.reduction = reduction;
      const int all = processes.count * processes.towers;
      const JoinedResult one = alone(run, reduction == GradientReduction::sum ? all : 1);
      const std::vector<JoinedResult> results = run_processes_of(run, processes);
      const std::string what =
          fmt::format("{}, {}, {} processes of {} towers", row_of(run.settings.optimizer.rule).name,
                      name_of(reduction), processes.count, processes.towers);
      for (const JoinedResult& result : results) {
        for (const VariableValues& variables : result.variables) {
          EXPECT_LE(largest_difference(variables, one.variables.front()), tolerance) << what;
          EXPECT_EQ(variables, results.front().variables.front()) << what;
        }
      }
      for (std::size_t step = 0; step < one.losses.size(); ++step) {
        double mean = 0;
        for (const JoinedResult& result : results) {
          mean += result.losses.at(step) / processes.count;
        }
        EXPECT_NEAR(mean, one.losses[step], 10 * tolerance) << what;
      }
    }
  }
}

JoinedRun run_with(const OptimizerRule& rule, DType dtype) {
  return {.settings = {.optimizer = {.rule = rule, .weight_decay = 0.01, .dtype = dtype}},
          .backend = [](int) { return make_reference_backend(); }};
}

TEST(JoinedProcesses, UpdateAsOneDeviceDoesInF64) {
  for (const OptimizerRow& row : all_optimizers()) {
    expect_invariant(run_with(row.rule, DType::f64), 1e-12);
  }
}

TEST(JoinedProcesses, UpdateAsOneDeviceDoesInF32) {
  JoinedRun run = run_with(MomentumRule{}, DType::f32);
  run.backend = [](int) {
    return make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}});
  };
  expect_invariant(run, 1e-6);
}

TEST(JoinedProcesses, ContinueExactlyFromTheStateOfAll) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "state.safetensors").string();
  constexpr int kAllSteps = 3;
  for (const char* const strategy : {"collective_all_reduce", "independent"}) {
    for (const Processes& processes : {Processes{2, 2}, Processes{3, 1}}) {
      JoinedRun run = run_with(MomentumRule{}, DType::f64);
      run.strategy = strategy;
      run.steps = kAllSteps;
      const std::vector<JoinedResult> straight = run_processes_of(run, processes);
      for (int stop = 1; stop < kAllSteps; ++stop) {
        JoinedRun first = run;
        first.steps = stop;
        first.save_to = path;
        run_processes_of(first, processes);
        JoinedRun rest = run;
        rest.first_step = stop;
        rest.continue_from = path;
        const std::vector<JoinedResult> continued = run_processes_of(rest, processes);
        for (std::size_t rank = 0; rank < straight.size(); ++rank) {
          EXPECT_EQ(continued[rank].variables, straight[rank].variables)
              << strategy << ", rank " << rank << ", after step " << stop;
        }
      }
    }
  }
}

}  // namespace
}  // namespace bench
