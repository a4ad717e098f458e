// The invariant of the strategies that join gradients: N towers update as one device does on their
// joined batch, with any optimizer.

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"
#include "variable_mgmt/strategies/test/joined_towers.h"

namespace bench {
namespace {

constexpr std::array kTowers{1, 2, 3, 4, 8};
constexpr double kDecay = 0.01;

std::unique_ptr<Backend> reference(int /*tower*/) { return make_reference_backend(); }
std::unique_ptr<Backend> onednn(int /*tower*/) {
  return make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}});
}

struct Joining {
  const char* name;
  const char* strategy;
  bool one_holder = false;
};
constexpr std::array kJoinings{
    Joining{.name = "replicated", .strategy = "replicated"},
    Joining{.name = "spread", .strategy = "parameter_server"},
    Joining{.name = "one holder", .strategy = "parameter_server", .one_holder = true}};

JoinedRun run_of(const Joining& joining, const OptimizerRule& rule, DType dtype) {
  return {.strategy = joining.strategy,
          .settings = {.optimizer = {.rule = rule, .weight_decay = kDecay, .dtype = dtype},
                       .one_holder = joining.one_holder},
          .backend = reference};
}

void expect_law(JoinedRun run, double tolerance) {
  for (const GradientReduction reduction : {GradientReduction::mean, GradientReduction::sum}) {
    for (const int towers : kTowers) {
      run.reduction = reduction;
      run.towers = towers;
      const JoinedResult many = run_joined(run);
      const JoinedResult one = alone(run, reduction == GradientReduction::sum ? towers : 1);
      const std::string what =
          fmt::format("{}, {}, {}, {} towers", run.strategy,
                      row_of(run.settings.optimizer.rule).name, name_of(reduction), towers);
      for (const VariableValues& variables : many.variables) {
        EXPECT_LE(largest_difference(variables, one.variables.front()), tolerance) << what;
        EXPECT_EQ(variables, many.variables.front()) << what;
      }
      for (std::size_t step = 0; step < one.losses.size(); ++step) {
        EXPECT_NEAR(many.losses[step], one.losses[step], 10 * tolerance) << what;
      }
    }
  }
}

TEST(JoinedBatch, UpdatesAsOneDeviceDoesInF64) {
  for (const Joining& joining : kJoinings) {
    for (const OptimizerRow& row : all_optimizers()) {
      expect_law(run_of(joining, row.rule, DType::f64), 1e-12);
    }
  }
}

TEST(JoinedBatch, UpdatesAsOneDeviceDoesInF32) {
  for (const Joining& joining : kJoinings) {
    for (const OptimizerRow& row : all_optimizers()) {
      JoinedRun run = run_of(joining, row.rule, DType::f32);
      if (std::holds_alternative<AdamRule>(row.rule)) {
        // Adam divides by the size of gradients; with its default epsilon also by mere rounding.
        run.settings.optimizer.rule = AdamRule{.epsilon = 1e-3};
      }
      run.backend = onednn;
      expect_law(run, 1e-6);
    }
  }
}

constexpr std::array kLateTowers{1, 2, 4};
const std::array<OptimizerRule, 3> kLateRules{SgdRule{}, MomentumRule{}, AdamRule{}};

/// Checks that `steps` steps with late gradients equal one step with prompt gradients. One step
/// less must equal no step.
void expect_late(JoinedRun late, JoinedRun prompt, int steps) {
  const std::string what =
      fmt::format("{}, {} towers", row_of(late.settings.optimizer.rule).name, late.towers);
  prompt.steps = 0;
  const std::vector<VariableValues> first = run_joined(prompt).variables;
  late.steps = steps - 1;
  EXPECT_EQ(run_joined(late).variables, first) << what;
  prompt.steps = 1;
  late.steps = steps;
  const std::vector<VariableValues> once = run_joined(prompt).variables;
  const std::vector<VariableValues> behind = run_joined(late).variables;
  const auto* const adam = std::get_if<AdamRule>(&late.settings.optimizer.rule);
  if (adam == nullptr) {
    EXPECT_EQ(behind, once) << what;
    return;
  }
  // Adam also counts the step of zeros: it treats the same means as those of two steps.
  const double share = std::sqrt(1 + adam->beta2) / (1 + adam->beta1);
  for (std::size_t tower = 0; tower < once.size(); ++tower) {
    const std::vector<double>& from = first[tower].at("all");
    for (std::size_t i = 0; i < from.size(); ++i) {
      EXPECT_NEAR(behind[tower].at("all")[i] - from[i],
                  share * (once[tower].at("all")[i] - from[i]), 1e-14)
          << what << ", element " << i;
    }
  }
}

TEST(JoinedBatch, IsAppliedOneStepLaterWhereThatIsAskedFor) {
  for (const OptimizerRule& rule : kLateRules) {
    for (const int towers : kLateTowers) {
      JoinedRun strong = run_of(kJoinings[0], rule, DType::f64);
      strong.towers = towers;
      JoinedRun relaxed = strong;
      relaxed.settings.relaxed = true;
      expect_late(relaxed, strong, 2);
    }
  }
}

/// Checks the weight decay of the first two gradients, which is a part of them. Both are computed
/// with the first variables, and the second is applied to others.
void expect_late_decay(JoinedRun late, int steps) {
  late.towers = 2;
  late.steps = 0;
  const VariableValues first = run_joined(late).variables.front();
  late.steps = steps;
  const VariableValues decayed = run_joined(late).variables.front();
  late.settings.optimizer.weight_decay = 0;
  const VariableValues plain = run_joined(late).variables.front();
  std::size_t differing = 0;
  for (std::size_t i = 0; i < first.at("all").size(); ++i) {
    const double decay = plain.at("all")[i] - decayed.at("all")[i];
    if (decay == 0) continue;
    ++differing;
    EXPECT_NEAR(decay, 2 * kLearningRate * kDecay * first.at("all")[i], 1e-15) << i;
  }
  EXPECT_GT(differing, first.at("all").size() / 2);
}

TEST(JoinedBatch, DecaysTheVariablesOfLateGradients) {
  JoinedRun relaxed = run_of(kJoinings[0], SgdRule{}, DType::f64);
  relaxed.settings.relaxed = true;
  expect_late_decay(relaxed, 3);
  JoinedRun staged = run_of(kJoinings[1], SgdRule{}, DType::f64);
  staged.settings.staged = true;
  expect_late_decay(staged, 4);
}

TEST(JoinedBatch, IsAppliedAndSeenOneStepLaterEachWithStagedVariables) {
  for (const bool one_holder : {false, true}) {
    for (const OptimizerRule& rule : kLateRules) {
      for (const int towers : kLateTowers) {
        JoinedRun strong = run_of(kJoinings[1], rule, DType::f64);
        strong.settings.one_holder = one_holder;
        strong.towers = towers;
        JoinedRun staged = strong;
        staged.settings.staged = true;
        expect_late(staged, strong, 3);
      }
    }
  }
}

TEST(JoinedBatch, IsSkippedByAllTowersForANonFiniteGradient) {
  for (const Joining& joining : kJoinings) {
    JoinedRun run = run_of(joining, MomentumRule{}, DType::f32);
    run.settings.optimizer.loss_scale = {.initial = 8, .automatic = true};
    run.loss_scale = 8;
    run.towers = 3;
    run.steps = 2;
    const JoinedResult before = run_joined(run);
    run.steps = 3;
    // An image of the last tower in the last step.
    run.spoiled = JoinedRun::Spoiled{.step = 2, .image = kJoinedBatch - 1};
    const JoinedResult result = run_joined(run);
    for (std::size_t tower = 0; tower < 3; ++tower) {
      EXPECT_EQ(result.variables[tower], before.variables[tower]) << joining.name;
      EXPECT_EQ(result.states[tower].skipped, 1) << joining.name;
      EXPECT_EQ(result.states[tower].updates, 2) << joining.name;
      EXPECT_EQ(result.states[tower].loss_scale, 4) << joining.name;
    }
  }
}

TEST(JoinedBatch, IsNotWhatIndependentTowersSee) {
  JoinedRun run = run_of(kJoinings[0], SgdRule{}, DType::f64);
  run.strategy = "independent";
  run.reduction = GradientReduction::sum;
  run.settings.optimizer.weight_decay = 0;
  run.towers = 2;
  const JoinedResult result = run_joined(run);
  EXPECT_GT(largest_difference(result.variables[0], result.variables[1]), 1e-3);
}

TEST(JoinedBatch, HasTheSameBitsOnDevicesThatAreFarAway) {
  for (const Joining& joining : kJoinings) {
    JoinedRun run = run_of(joining, MomentumRule{}, DType::f32);
    run.towers = 4;
    const JoinedResult near = run_joined(run);
    for (const FarSchedule& schedule : far_schedules()) {
      run.backend = [&](int tower) {
        FarSchedule own = schedule;
        own.seed += static_cast<std::uint64_t>(tower);
        return make_far_backend(make_reference_backend(), own);
      };
      const JoinedResult far = run_joined(run);
      EXPECT_EQ(far.variables, near.variables) << joining.name << ", seed " << schedule.seed;
      EXPECT_EQ(far.losses, near.losses) << joining.name << ", seed " << schedule.seed;
    }
  }
}

/// How the gradients of several towers are added.
struct Summing {
  const char* name;
  SumSettings sums;
};

std::vector<Summing> all_summings(int towers) {
  std::vector<Summing> summings{
      {"one bucket", {.overlap = false}},
      {"small buckets", {.buckets = {.bytes = 64, .first_bytes = 16}}},
      {"small buckets after the step",
       {.buckets = {.bytes = 64, .first_bytes = 16}, .overlap = false}},
      {"packs", {.packs = 3}},
      {"small gradients together", {.small = {.max_bytes = 200, .max_group = 10}}},
      {"by size", {.spec = parse_all_reduce_spec("pscpu:64:xring")}}};
  for (const char* spec : {"shm", "xring", "pscpu", "psgpu", "rechd", "tree"}) {
    summings.push_back({spec, {.spec = parse_all_reduce_spec(spec)}});
  }
  if (towers > 1) {
    for (const char* spec : {"xring#2", "psgpu#2"}) {
      summings.push_back({spec, {.spec = parse_all_reduce_spec(spec)}});
    }
  }
  if (towers % 2 == 0) {
    summings.push_back({"hierarchical", {.spec = {{.algorithm = "hierarchical/dgx1"}}}});
  }
  return summings;
}

void expect_law_in_every_cut(JoinedRun run, double tolerance) {
  const JoinedResult one = alone(run, 1);
  for (const int towers : kTowers) {
    run.towers = towers;
    for (const Summing& summing : all_summings(towers)) {
      run.settings.sums = summing.sums;
      const JoinedResult many = run_joined(run);
      const std::string what = fmt::format("{}, {}, {} towers", summing.name,
                                           row_of(run.settings.optimizer.rule).name, towers);
      for (const VariableValues& variables : many.variables) {
        EXPECT_LE(largest_difference(variables, one.variables.front()), tolerance) << what;
        EXPECT_EQ(variables, many.variables.front()) << what;
      }
      EXPECT_EQ(run_joined(run).variables, many.variables) << what << ", again";
    }
  }
}

TEST(JoinedBatch, IsTheSameByEveryAlgorithmAndInEveryCut) {
  for (const OptimizerRule& rule : {OptimizerRule(MomentumRule{}), OptimizerRule(AdamRule{})}) {
    expect_law_in_every_cut(run_of(kJoinings[0], rule, DType::f64), 1e-12);
  }
  expect_law_in_every_cut(run_of(kJoinings[0], MomentumRule{}, DType::f32), 1e-6);
}

TEST(JoinedBatch, HasTheSameBitsInEveryCutAndWithOverlapOrWithout) {
  JoinedRun run = run_of(kJoinings[0], MomentumRule{}, DType::f32);
  run.towers = 4;
  const JoinedResult plain = run_joined(run);
  for (const Summing& summing : all_summings(run.towers)) {
    if (summing.sums.spec.empty()) {
      run.settings.sums = summing.sums;
      EXPECT_EQ(run_joined(run).variables, plain.variables) << summing.name;
    }
  }
}

/// Half the distance between 1 and the next number.
double half_epsilon(DType narrow) { return narrow == DType::bf16 ? 0x1p-8 : 0x1p-11; }

TEST(JoinedBatch, UpdatesAsOneDeviceUpToTheRoundingOfGradients) {
  for (const DType narrow : {DType::bf16, DType::f16}) {
    JoinedRun run = run_of(kJoinings[0], MomentumRule{}, DType::f32);
    run.backend = onednn;
    run.settings.sums.narrow = narrow;
    for (const int towers : {2, 3, 4}) {
      run.towers = towers;
      const JoinedResult many = run_joined(run);
      const JoinedResult one = alone(run, 1);
      JoinedRun untrained = run;
      untrained.steps = 0;
      // The error is relative to the total change in three steps: each gradient is rounded once,
      // and so is each sum.
      const double moved =
          largest_difference(run_joined(untrained).variables.front(), one.variables.front());
      const double difference = largest_difference(many.variables.front(), one.variables.front());
      EXPECT_LE(difference, moved * 4 * towers * half_epsilon(narrow)) << towers;
      EXPECT_GT(difference, 1e-6) << "nothing was sent in 16 bits";
      EXPECT_EQ(run_joined(run).variables, many.variables) << "again";
      for (const VariableValues& variables : many.variables) {
        EXPECT_EQ(variables, many.variables.front()) << towers;
      }
    }
  }
}

TEST(JoinedBatch, IsSentIn16BitsWithTheSameBitsInEveryCut) {
  JoinedRun run = run_of(kJoinings[0], MomentumRule{}, DType::f32);
  run.backend = onednn;
  run.towers = 3;
  run.settings.sums.narrow = DType::bf16;
  const JoinedResult plain = run_joined(run);
  for (const Summing& summing : all_summings(run.towers)) {
    if (summing.sums.spec.empty()) {
      run.settings.sums = summing.sums;
      run.settings.sums.narrow = DType::bf16;
      EXPECT_EQ(run_joined(run).variables, plain.variables) << summing.name;
    }
  }
}

TEST(JoinedBatch, IsSentIn16BitsWithTheSameBitsToDevicesThatAreFarAway) {
  JoinedRun run = run_of(kJoinings[0], MomentumRule{}, DType::f32);
  run.towers = 4;
  run.settings.sums = {.buckets = {.bytes = 64, .first_bytes = 16}, .narrow = DType::f16};
  const JoinedResult near = run_joined(run);
  for (const FarSchedule& schedule : far_schedules()) {
    run.backend = [&](int /*tower*/) {
      return make_far_backend(make_reference_backend(), schedule);
    };
    EXPECT_EQ(run_joined(run).variables, near.variables) << "seed " << schedule.seed;
  }
}

/// The bytes that a step uploads to all devices.
std::size_t bytes_per_step(JoinedRun run) {
  run.towers = 2;
  run.backend = [](int /*tower*/) { return make_far_backend(make_reference_backend(), {}); };
  std::atomic<std::size_t> bytes = 0;
  run.at_end = [&](const Backend& device) { bytes += uploaded_to(device); };
  run.steps = 3;
  run_joined(run);
  const std::size_t more = bytes.exchange(0);
  run.steps = 2;
  run_joined(run);
  return more - bytes;
}

TEST(JoinedBatch, TakesHalfTheBytesWhereItIsSentIn16Bits) {
  JoinedRun run = run_of(kJoinings[0], MomentumRule{}, DType::f32);
  JoinedRun narrow = run;
  narrow.settings.sums.narrow = DType::bf16;
  JoinedRun unsent = run;
  unsent.strategy = "independent";
  const std::size_t others = bytes_per_step(unsent);
  const std::size_t sent = bytes_per_step(run) - others;
  EXPECT_GT(sent, 0U);
  EXPECT_EQ(2 * (bytes_per_step(narrow) - others), sent);
}

TEST(JoinedBatch, GivesTheSameBitsTwice) {
  for (const Joining& joining : kJoinings) {
    JoinedRun run = run_of(joining, MomentumRule{}, DType::f32);
    run.backend = onednn;
    run.towers = 4;
    EXPECT_EQ(run_joined(run).variables, run_joined(run).variables) << joining.name;
  }
}

}  // namespace
}  // namespace bench
