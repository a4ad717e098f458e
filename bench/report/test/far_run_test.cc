// Whole runs on a remote, slow device give the same bits as runs on the underlying device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/flags/test/usage_error.h"
#include "bench/loop/session.h"
#include "bench/loop/test/lone_tower.h"
#include "bench/loop/test/residual.h"
#include "bench/plan/input.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "bench/plan/verified_run.h"
#include "bench/quantize/quantization.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"
#include "pipeline/test/support.h"
#include "results/environment/clock.h"
#include "variable_mgmt/fold_values.h"

namespace bench {
namespace {

/// The results of a run.
struct Outcome {
  std::vector<double> losses;
  std::int64_t skipped_updates = 0;
  InitialValues variables;
  std::vector<float> logits;
  std::vector<double> checked;
  bool operator==(const Outcome&) const = default;
};

enum class Check : std::uint8_t { none, whole };

Outcome run(const RunSettings& settings, Backend& backend, Check check) {
  const Workload& workload = settings.workload;
  InitialValues values = initial_values(build_run_network(workload, workload.batch), 1);
  fold_values(run_folds(workload), values);
  std::ostringstream out;
  std::optional<Quantization> quantization;
  if (workload.int8) {
    quantization.emplace(settings, backend, values, out, Watch());
  }
  LoneTower lone(
      settings,
      quantization ? quantization->graph() : build_run_graph(settings, backend, workload.batch),
      backend,
      {.format = settings.execution.format, .pixels = settings.execution.lowering().pixels},
      values);
  Tower& tower = lone.tower();
  const auto input = make_run_input(settings, tower.executor().input_layout("images"));
  const SteadyClock clock;
  StoppingRule stopping(step_limits(settings.execution), clock, [] { return false; });
  SessionResult result;
  run_session(settings,
              {.towers = lone.towers(),
               .input = *input,
               .clock = clock,
               .stopping = stopping,
               .out = out,
               .progress = out},
              result);
  Outcome outcome{.losses = result.losses,
                  .skipped_updates = result.skipped_updates,
                  .variables = {},
                  .logits = tower.executor().read_output_as_floats("logits"),
                  .checked = {}};
  const Graph& graph = tower.executor().graph();
  for (const Variable& variable : graph.variables()) {
    const std::string& name = graph.value(variable.value).name;
    outcome.variables[name] = tower.executor().read_variable(name);
  }
  if (check == Check::whole) {
    const auto graph_of = [&](std::int64_t images) {
      return build_run_graph(settings, backend, images);
    };
    const Verification verification = verify_run(verified_run(settings, lone.towers(), graph_of));
    EXPECT_TRUE(verification.passed()) << verification.failures();
    for (const results::VerifiedNumber& number : verification.numbers) {
      outcome.checked.push_back(number.measured);
    }
  }
  return outcome;
}

/// Runs on the reference and through a remote device, on every schedule; returns the results.
Outcome run_near_and_far(const RunSettings& settings, Check check = Check::none,
                         std::uint64_t seeds = kFarSeeds) {
  const auto reference = make_reference_backend();
  Outcome near = run(settings, *reference, check);
  for (const FarSchedule& schedule : far_schedules(seeds)) {
    const auto far = make_far_backend(make_reference_backend(), schedule);
    EXPECT_EQ(run(settings, *far, check), near) << "seed " << schedule.seed;
  }
  return near;
}

TEST(FarRun, TrainsWithEachOptimizer) {
  for (const OptimizerRow& row : all_optimizers()) {
    RunSettings settings = residual();
    settings.workload.optimizer.rule = row.rule;
    const Outcome outcome = run_near_and_far(settings);
    EXPECT_EQ(outcome.losses.size(), 5U);
    EXPECT_NE(outcome.losses.front(), outcome.losses.back());
  }
}

TEST(FarRun, SkipsUpdatesWhereTheLossScaleIsTooLarge) {
  RunSettings settings = residual(DType::f16);
  settings.workload.loss_scale.automatic = true;
  settings.workload.loss_scale.initial = 1 << 20;
  const Outcome outcome = run_near_and_far(settings);
  EXPECT_GT(outcome.skipped_updates, 0);
  EXPECT_LT(outcome.skipped_updates, 6);
}

TEST(FarRun, InfersInInt8) {
  RunSettings settings = residual();
  settings.workload.mode = RunMode::forward_only;
  settings.workload.int8 = true;
  EXPECT_FALSE(run_near_and_far(settings).logits.empty());
}

TEST(FarRun, TrainsOnPixelsAsOnFloatsUpToRounding) {
  const test::TemporaryFolder folder;
  std::vector<std::string> examples;
  for (int i = 1; i <= 12; ++i) {
    const test::Picture picture{
        .width = 40 + i, .height = 70 - i, .seed = static_cast<std::uint64_t>(i)};
    examples.push_back(test::image_example(test::wavy_jpeg(picture), i % 3));
  }
  test::write_shards(folder, {.shards = 1}, examples);
  const auto train = [&](const std::string& transfer) {
    const std::string data = "--data_dir=" + folder.path().string();
    const std::string flag = "--input_transfer=" + transfer;
    const RunSettings settings = resolve_settings(
        parse({"--model=lenet", "--data_name=imagenet", data, flag, "--num_classes=3",
               "--device=reference", "--batch_size=4", "--num_batches=4", "--num_warmup_batches=0",
               "--init_learning_rate=0.01"}));
    EXPECT_EQ(settings.execution.slots == SlotType::u8, transfer == "uint8");
    return run_near_and_far(settings, Check::none, /*seeds=*/2).losses;
  };
  const std::vector<double> floats = train("float");
  EXPECT_EQ(train("auto"), floats);
  const std::vector<double> pixels = train("uint8");
  ASSERT_EQ(pixels.size(), floats.size());
  EXPECT_NE(pixels, floats);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    // Half a grey level is 1/255 of the range from -1 to 1. The errors of an image's pixels differ
    // in sign, so the loss has a far smaller error.
    EXPECT_NEAR(pixels[i], floats[i], floats[i] / 255) << "step " << i;
  }
}

TEST(FarRun, IsVerified) {
  ParseResult parsed;
  parsed.flags.model = "lenet";
  parsed.flags.device = "reference";
  parsed.batch = read_batch_request("4");
  parsed.flags.optimizer = "momentum";
  parsed.flags.num_batches = 1;
  parsed.flags.num_warmup_batches = 0;
  const Outcome outcome = run_near_and_far(resolve_settings(parsed), Check::whole, /*seeds=*/1);
  EXPECT_GT(outcome.checked.size(), 30U);
}

}  // namespace
}  // namespace bench
