// A training run that continues from its state ends as if it had not stopped.

#include "variable_mgmt/checkpoint/run_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"
#include "models/base/test/scratch_folder.h"
#include "variable_mgmt/strategies/test/joined_towers.h"

namespace bench {
namespace {

constexpr int kSteps = 5;

struct Way {
  const char* name;
  const char* strategy;
  int towers = 1;
  bool relaxed = false;
  bool staged = false;
  bool one_holder = false;
};
constexpr std::array kWays{
    Way{.name = "one tower", .strategy = "parameter_server"},
    Way{.name = "spread", .strategy = "parameter_server", .towers = 2},
    Way{.name = "one holder", .strategy = "parameter_server", .towers = 2, .one_holder = true},
    Way{.name = "replicated", .strategy = "replicated", .towers = 2},
    Way{.name = "independent", .strategy = "independent", .towers = 2},
    Way{.name = "relaxed", .strategy = "replicated", .towers = 2, .relaxed = true},
    Way{.name = "staged", .strategy = "parameter_server", .towers = 2, .staged = true},
    Way{.name = "staged, one tower", .strategy = "parameter_server", .staged = true}};

JoinedRun run_of(const Way& way, const OptimizerRule& rule, DType dtype) {
  return {.strategy = way.strategy,
          .settings = {.optimizer = {.rule = rule, .weight_decay = 0.01, .dtype = dtype},
                       .one_holder = way.one_holder,
                       .relaxed = way.relaxed,
                       .staged = way.staged},
          .towers = way.towers,
          .steps = kSteps,
          .backend = [](int) { return make_reference_backend(); }};
}

/// Runs `run` straight, and again with an interruption after each of its steps.
void expect_exact(JoinedRun run, const std::string& what) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "state.safetensors").string();
  const JoinedResult straight = run_joined(run);
  for (int stop = 0; stop < kSteps; ++stop) {
    JoinedRun first = run;
    first.steps = stop;
    first.save_to = path;
    run_joined(first);
    JoinedRun rest = run;
    rest.first_step = stop;
    rest.continue_from = path;
    const JoinedResult continued = run_joined(rest);
    EXPECT_EQ(continued.variables, straight.variables) << what << ", after step " << stop;
    EXPECT_EQ(continued.losses.back(), straight.losses.back()) << what;
    EXPECT_EQ(continued.states.front().updates, straight.states.front().updates) << what;
  }
}

TEST(RunState, ContinuesExactlyWithEveryStrategyAndOptimizer) {
  for (const Way& way : kWays) {
    for (const OptimizerRow& row : all_optimizers()) {
      expect_exact(run_of(way, row.rule, DType::f32), fmt::format("{}, {}", way.name, row.name));
    }
  }
}

TEST(RunState, ContinuesExactlyInF64) {
  expect_exact(run_of(kWays[1], AdamRule{}, DType::f64), "f64");
}

TEST(RunState, ContinuesExactlyOnADeviceWithBlockedLayoutsAndOwnMemory) {
  for (const Way& way : kWays) {
    JoinedRun run = run_of(way, MomentumRule{}, DType::f32);
    run.backend = [](int) {
      return make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}});
    };
    expect_exact(run, fmt::format("{} on oneDNN", way.name));
    run.backend = [](int) {
      return make_far_backend(make_reference_backend(), {.kind = FarSchedule::Kind::deferred});
    };
    expect_exact(run, fmt::format("{} on a far device", way.name));
  }
}

TEST(RunState, KeepsTheLossScaleAndTheSkippedUpdates) {
  JoinedRun run = run_of(kWays[3], MomentumRule{}, DType::f32);
  run.settings.optimizer.loss_scale = {.initial = 8, .automatic = true, .increase_every = 2};
  run.loss_scale = 8;
  run.spoiled = {.step = 1, .image = 0};
  expect_exact(run, "automatic loss scale");
}

TEST(RunState, OfOneStrategyServesTheOthers) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "state.safetensors").string();
  JoinedRun first = run_of(kWays[1], MomentumRule{}, DType::f64);
  first.steps = 2;
  first.save_to = path;
  run_joined(first);
  JoinedRun expected = run_of(kWays[1], MomentumRule{}, DType::f64);
  expected.steps = 3;
  const VariableValues variables = run_joined(expected).variables.front();
  for (const Way& way : kWays) {
    if (way.relaxed || way.staged || std::string_view(way.strategy) == "independent") {
      continue;  // Their next step is another one.
    }
    JoinedRun rest = run_of(way, MomentumRule{}, DType::f64);
    rest.steps = 3;
    rest.first_step = 2;
    rest.continue_from = path;
    EXPECT_LE(largest_difference(run_joined(rest).variables.front(), variables), 1e-12) << way.name;
  }
}

TEST(RunState, IsRefusedWithoutTheSlotsOfTheOptimizer) {
  const ScratchFolder folder;
  JoinedRun run = run_of(kWays[0], SgdRule{}, DType::f32);
  run.steps = 1;
  run.save_to = (folder.path() / "state.safetensors").string();
  run_joined(run);
  JoinedRun other = run_of(kWays[0], MomentumRule{}, DType::f32);
  other.continue_from = run.save_to;
  EXPECT_THROW(run_joined(other), DataError);
}

}  // namespace
}  // namespace bench
