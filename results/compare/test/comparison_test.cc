#include "results/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <iostream>
#include <sstream>
#include <vector>

#include "models/base/errors.h"
#include "results/compare/differences.h"
#include "results/compare/forms.h"
#include "results/compare/number_text.h"
#include "results/compare/test/made_runs.h"

namespace bench::results {
namespace {

using stats::ChangeVerdict;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Comparison compared(const std::vector<StoredRun>& base, const std::vector<StoredRun>& other,
                    const CompareOptions& options = {}) {
  return compare({.name = "base", .runs = base}, {.name = "new", .runs = other}, options);
}

TEST(Comparison, FindsTwoPerCentWithEightRuns) {
  const Comparison comparison =
      compared(made_runs(8, {.rate = 100}, 0.005, 1), made_runs(8, {.rate = 98}, 0.005, 2));
  ASSERT_EQ(comparison.rows.size(), 1);
  EXPECT_EQ(comparison.rows[0].metric, "images_per_sec");
  EXPECT_EQ(comparison.rows[0].verdict, ChangeVerdict::kRegressed);
  EXPECT_EQ(exit_status(std::span(&comparison, 1), false), 1);
}

TEST(Comparison, DoesNotCallASlowerMachineARegression) {
  std::vector<StoredRun> base = made_runs(8, {.rate = 100}, 0.005, 1);
  std::vector<StoredRun> other = made_runs(8, {.rate = 70}, 0.005, 2);
  for (StoredRun& run : base) run.record["cpu"]["model"] = "fast";
  EXPECT_EQ(exit_status(std::array{compared(base, other)}, false), 1) << "one side is unknown";
  for (StoredRun& run : other) run.record["cpu"]["model"] = "slow";
  const std::array slower = {compared(base, other)};
  EXPECT_EQ(verdict_text(slower[0].rows[0], {}), "lower (other hardware)");
  EXPECT_THAT(verdicts_text(slower), HasSubstr("0 regressed"));
  EXPECT_THAT(verdicts_text(slower), HasSubstr("1 on other hardware"));
  EXPECT_EQ(exit_status(slower, false), 0);
  EXPECT_EQ(exit_status(slower, true), 4) << "nothing is known about the program";
  other[0].record["cpu"]["model"] = "fast";
  EXPECT_EQ(exit_status(std::array{compared(base, other)}, false), 1) << "one run has the same";
  const nlohmann::json gpu = {{{"name", "H100"}}};
  for (StoredRun& run : base) run.record["gpu"] = gpu;
  EXPECT_EQ(exit_status(std::array{compared(base, other)}, false), 1) << "one side is unknown";
  for (StoredRun& run : other) run.record["gpu"] = {{{"name", "H200"}}};
  EXPECT_EQ(exit_status(std::array{compared(base, other)}, false), 0);
}

TEST(Comparison, WarnsOfSidesThatWereMeasuredOneAfterTheOther) {
  std::vector<StoredRun> base = made_runs(8, {.rate = 100}, 0.005, 1);
  std::vector<StoredRun> other = made_runs(8, {.rate = 95}, 0.005, 2);
  const auto measured_from = [](std::vector<StoredRun>& runs, std::int64_t start,
                                std::int64_t step) {
    for (StoredRun& run : runs) run.start_ms = start += step;
  };
  measured_from(base, 0, 1);
  measured_from(other, 100, 1);
  const auto warning = Contains(HasSubstr("one side was measured after the other"));
  EXPECT_THAT(compared(base, other).notes, warning);
  EXPECT_THAT(compared(other, base).notes, warning);
  EXPECT_THAT(compared(base, other, {.paired = true}).notes, Not(warning));
  measured_from(base, 0, 2);
  measured_from(other, 1, 2);
  EXPECT_THAT(compared(base, other).notes, Not(warning)) << "in turn";
}

TEST(Comparison, FindsEqualRunsEquivalent) {
  const Comparison comparison = compared(made_runs(8, {}, 0.003, 1), made_runs(8, {}, 0.003, 2));
  EXPECT_EQ(comparison.rows[0].verdict, ChangeVerdict::kEquivalent);
  EXPECT_EQ(exit_status(std::span(&comparison, 1), true), 0);
}

TEST(QualityNotes, JoinWarningsThatDifferOnlyInNumbers) {
  std::vector<StoredRun> runs = made_runs(4, {}, 0.01, 1);
  const std::vector<std::string> warnings = {"steal of 3.5 % on x86", "steal of 12 % on x86",
                                             "steal of 4 % on x86", "swap is in use"};
  std::vector<const StoredRun*> pointers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].record["quality"]["warnings"] = {warnings[i]};
    pointers.push_back(&runs[i]);
  }
  EXPECT_THAT(quality_notes(pointers), ElementsAre("steal of 3.5 to 12 % on x86 (3 of 4 runs)",
                                                   "swap is in use (1 of 4 runs)"));
}

TEST(QualityNotes, MentionOneCauseOnce) {
  StoredRun run = made_run({});
  mark_disturbed(run);
  run.record["load"]["steal_share"] = 0.05;
  run.record["metrics"] = {{{"name", "step_time.n"}, {"value", 100}},
                           {{"name", "step_time.mean"}, {"value", 0.05}},
                           {{"name", "step_time.median"}, {"value", 0.01}},
                           {{"name", "step_time.max"}, {"value", 4}}};
  const std::vector<const StoredRun*> runs = {&run};
  EXPECT_THAT(quality_notes(runs), ElementsAre("one step took many times the median",
                                               "other programs used the processors",
                                               "the hypervisor took processor time (steal)"));
  const std::vector<std::string> warnings = {
      "one step took 400 times the median; was the process suspended?",
      "other work keeps about 1 of 2 processors busy, and this run uses 2.",
      "the hypervisor gives 5.0 % of the processor time to other machines (steal): use another"};
  run.record["quality"]["warnings"] = warnings;
  EXPECT_THAT(quality_notes(runs), ::testing::UnorderedElementsAreArray(warnings));
}

TEST(Comparison, GroupsRowsByAFieldWithAGeometricMeanEach) {
  std::vector<StoredRun> base;
  std::vector<StoredRun> other;
  std::uint64_t seed = 1;
  for (const char* model : {"vgg16", "resnet50"}) {
    for (const int batch : {64, 32}) {
      for (auto* side : {&base, &other}) {
        const double rate = side == &other && model == std::string("vgg16") ? 90 : 100;
        const auto runs =
            made_runs(8, {.model = model, .batch = batch, .rate = rate}, 0.003, seed++);
        side->insert(side->end(), runs.begin(), runs.end());
      }
    }
  }
  const Comparison comparison = compared(base, other, {.by = {"batch_per_device", "model"}});
  ASSERT_EQ(comparison.rows.size(), 4);
  EXPECT_EQ(comparison.rows[0].group, "batch_per_device 32, model resnet50");
  EXPECT_EQ(comparison.rows[3].group, "batch_per_device 64, model vgg16");
  EXPECT_EQ(comparison.geomeans.size(), 1);  // One over all rows: each group is one row.

  const Comparison by_model = compared(base, other, {.by = {"model"}});
  ASSERT_EQ(by_model.geomeans.size(), 3);
  EXPECT_EQ(by_model.geomeans[0].group, "model resnet50");
  EXPECT_EQ(by_model.geomeans[0].workloads, 2);
  EXPECT_NEAR(by_model.geomeans[0].mean.log_ratio, 0, 0.01);
  EXPECT_EQ(by_model.geomeans[1].group, "model vgg16");
  EXPECT_NEAR(by_model.geomeans[1].mean.log_ratio, std::log(0.9), 0.01);
  EXPECT_EQ(by_model.geomeans[2].group, "");
  EXPECT_EQ(by_model.geomeans[2].workloads, 4);
}

TEST(Comparison, SaysHowManyRunsItNeeds) {
  const Comparison comparison = compared(made_runs(3, {}, 0.02, 1), made_runs(3, {}, 0.02, 2));
  EXPECT_EQ(comparison.rows[0].verdict, ChangeVerdict::kInconclusive);
  EXPECT_GT(*comparison.rows[0].needed, 20);
  EXPECT_EQ(exit_status(std::span(&comparison, 1), false), 0);
  EXPECT_EQ(exit_status(std::span(&comparison, 1), true), 4);
}

TEST(Comparison, SaysHowManyRunsAreNeededAtLeast) {
  const Comparison comparison = compared({made_run({})}, {made_run({.rate = 50})});
  EXPECT_EQ(comparison.rows[0].verdict, ChangeVerdict::kInconclusive);
  EXPECT_FALSE(comparison.rows[0].needed);
  EXPECT_EQ(verdict_text(comparison.rows[0], {}), "inconclusive (needs at least 4 runs per side)");
}

TEST(Comparison, SaysHowManyPairsAreNeededAtLeast) {
  const Comparison comparison =
      compared({made_run({})}, {made_run({.rate = 50})}, {.alpha = 0.01, .paired = true});
  EXPECT_EQ(verdict_text(comparison.rows[0], {}), "inconclusive (needs at least 8 pairs)");
}

TEST(Comparison, LessTimeIsAnImprovement) {
  const Comparison comparison =
      compared(made_runs(8, {.rate = 100}, 0.005, 1), made_runs(8, {.rate = 110}, 0.005, 2),
               {.metrics = {"wall_time"}});
  EXPECT_EQ(comparison.rows[0].verdict, ChangeVerdict::kImproved);
  EXPECT_LT(comparison.rows[0].shift->estimate, 0);
}

TEST(Comparison, PairsSeeThroughAMachineThatSlowsDown) {
  // The machine loses 1 % with each pair, which hides 1.5 % between the sides from groups.
  std::vector<StoredRun> base = made_runs(8, {.rate = 100}, 0.002, 1);
  std::vector<StoredRun> other = made_runs(8, {.rate = 98.5}, 0.002, 2);
  for (std::size_t i = 0; i < base.size(); ++i) {
    const double slower = std::pow(0.99, static_cast<double>(i));
    base[i].metrics["images_per_sec"].value *= slower;
    other[i].metrics["images_per_sec"].value *= slower;
  }
  EXPECT_EQ(compared(base, other).rows[0].verdict, ChangeVerdict::kInconclusive);
  const Comparison paired = compared(base, other, {.paired = true});
  EXPECT_EQ(paired.rows[0].verdict, ChangeVerdict::kRegressed);
  EXPECT_EQ(paired.rows[0].by, ComparedBy::kPairs);
  EXPECT_NEAR(*paired.rows[0].drift, -0.005, 0.001) << "a pair is two runs";
}

TEST(Comparison, ARunWithoutTheMetricLosesOnlyItsPair) {
  std::vector<StoredRun> base = made_runs(9, {.rate = 100}, 0.002, 1);
  std::vector<StoredRun> other = made_runs(9, {.rate = 98}, 0.002, 2);
  for (std::size_t i = 0; i < base.size(); ++i) {
    // The machine doubles its speed with each pair, which only partners share.
    base[i].metrics["images_per_sec"].value *= std::pow(2, static_cast<double>(i));
    other[i].metrics["images_per_sec"].value *= std::pow(2, static_cast<double>(i));
  }
  base[0].metrics.erase("images_per_sec");
  other[3].metrics.erase("images_per_sec");
  const Comparison comparison = compared(base, other, {.paired = true});
  EXPECT_EQ(comparison.rows[0].base_values.size(), 7);
  EXPECT_NEAR(std::exp(comparison.rows[0].shift->estimate), 0.98, 0.005);
  EXPECT_THAT(
      comparison.notes,
      Contains(HasSubstr("7 of 9 pairs have this workload and images_per_sec on both sides")));
}

TEST(Comparison, GroupsAreTheReplicatesOfNestedRuns) {
  std::vector<StoredRun> base;
  std::vector<StoredRun> other;
  for (std::uint64_t day = 0; day < 4; ++day) {
    for (auto* side : {&base, &other}) {
      const std::string group = fmt::format("{}{}", side == &base ? "a" : "b", day);
      const double rate = 100 + static_cast<double>(day * day % 3);
      for (const StoredRun& run : made_runs(3, {.rate = rate, .group = group}, 0.001, day)) {
        side->push_back(run);
      }
    }
  }
  const Comparison comparison = compared(base, other);
  EXPECT_EQ(comparison.rows[0].by, ComparedBy::kNested);
  EXPECT_NE(comparison.rows[0].verdict, ChangeVerdict::kRegressed);
}

/// Days of three runs; days differ by 2 %, runs of a day by 0.1 %.
std::vector<StoredRun> made_groups(std::size_t groups, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<StoredRun> runs;
  for (std::size_t day = 0; day < groups; ++day) {
    const double rate = 100 * std::exp(0.02 * static_cast<double>(random.normal()));
    const MadeRun made{.rate = rate, .group = fmt::format("{}-{}", seed, day)};
    for (const StoredRun& run : made_runs(3, made, 0.001, 1000 * seed + day)) runs.push_back(run);
  }
  return runs;
}

TEST(Comparison, ThreeGroupsPerSideAreTooFew) {
  std::vector<StoredRun> base;
  std::vector<StoredRun> other;
  for (std::uint64_t day = 0; day < 3; ++day) {
    for (auto* side : {&base, &other}) {
      const MadeRun made{.rate = side == &base ? 100.0 : 90.0,
                         .group = fmt::format("{}{}", side == &base ? "a" : "b", day)};
      for (const StoredRun& run : made_runs(3, made, 0.001, day)) side->push_back(run);
    }
  }
  const ComparisonRow row = compared(base, other).rows[0];
  EXPECT_EQ(row.by, ComparedBy::kNested);
  EXPECT_NEAR(row.shift->p, 0.1, 1e-12) << "2 of the 20 ways to split six days";
  EXPECT_FALSE(row.shift->interval);
  EXPECT_EQ(row.verdict, ChangeVerdict::kInconclusive);
  EXPECT_EQ(row.needed, 4);
  EXPECT_THAT(verdict_text(row, {}), HasSubstr("need 4 groups/side"));
}

TEST(Comparison, EqualGroupsRarelyDiffer) {
  for (const std::size_t groups : {3, 4}) {
    int changed = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
      const auto verdict =
          compared(made_groups(groups, 2 * i + 1), made_groups(groups, 2 * i + 2)).rows[0].verdict;
      changed += verdict == ChangeVerdict::kRegressed || verdict == ChangeVerdict::kImproved;
    }
    std::cout << "A/A, " << groups << " days per side: " << changed
              << " of 200 comparisons report a change\n";
    // With 4 days, p is at least 2 / 70: 5.7 are expected, 10 are promised.
    EXPECT_LE(changed, groups == 3 ? 0 : 10);
  }
}

TEST(Comparison, ManyRowsAreCorrectedTogether) {
  std::vector<StoredRun> base;
  std::vector<StoredRun> other;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::string model = fmt::format("model{}", i);
    for (const StoredRun& run : made_runs(8, {.model = model}, 0.02, 500 + 2 * i))
      base.push_back(run);
    for (const StoredRun& run : made_runs(8, {.model = model}, 0.02, 501 + 2 * i)) {
      other.push_back(run);
    }
  }
  const Comparison comparison = compared(base, other, {.margin = 0.001});
  ASSERT_EQ(comparison.rows.size(), 40);
  int alone = 0;
  for (const ComparisonRow& row : comparison.rows) {
    EXPECT_GE(row.q, row.shift->p);
    EXPECT_NE(row.verdict, ChangeVerdict::kRegressed);
    alone += row.uncorrected ? 1 : 0;
  }
  EXPECT_GT(alone, 0) << "without the correction, some rows would be reported as changed";
  ASSERT_EQ(comparison.geomeans.size(), 1);
  EXPECT_EQ(comparison.geomeans[0].workloads, 40);
}

TEST(Comparison, ListsDifferentExactNumbersWithoutATest) {
  const Comparison comparison =
      compared(made_runs(8, {.params = 25}, 0.003, 1), made_runs(8, {.params = 26}, 0.003, 2));
  ASSERT_EQ(comparison.exact.size(), 1);
  EXPECT_EQ(comparison.exact[0].metric, "model_params");
  EXPECT_THAT(comparison.exact[0].other, ::testing::ElementsAre(26));
  EXPECT_EQ(exit_status(std::span(&comparison, 1), true), 0);
}

TEST(Comparison, SaysWhatDiffersInTheEnvironment) {
  const Comparison comparison = compared(made_runs(8, {.kernel = "6.1.0-28"}, 0.003, 1),
                                         made_runs(8, {.kernel = "6.1.0-31"}, 0.003, 2));
  ASSERT_EQ(comparison.environment.size(), 1);
  EXPECT_EQ(text_of(comparison.environment[0]), "host.kernel 6.1.0-28 -> 6.1.0-31");
}

TEST(Comparison, OmitsRunsThatFailed) {
  std::vector<StoredRun> base = made_runs(8, {}, 0.003, 1);
  base[0].status = "failed";
  base[0].metrics["images_per_sec"].value = 1;
  const Comparison comparison = compared(base, made_runs(8, {}, 0.003, 2));
  EXPECT_EQ(comparison.rows[0].base.n, 7);
  EXPECT_THAT(comparison.notes, Contains("base: omitted 1 run with the status failed"));
  for (StoredRun& run : base) run.status = "aborted";
  EXPECT_THROW(compared(base, made_runs(8, {}, 0.003, 2)), DataError);
}

TEST(Comparison, IsStrictAboutAWorkloadThatOnlyTheBaseHas) {
  std::vector<StoredRun> base = made_runs(8, {}, 0.003, 1);
  std::vector<StoredRun> other = made_runs(8, {}, 0.003, 2);
  for (auto* side : {&base, &other}) {
    for (const StoredRun& run : made_runs(2, {.model = "vgg16"}, 0.003, 3)) side->push_back(run);
  }
  for (StoredRun& run : other) run.status = run.workload.starts_with("vgg16") ? "failed" : "ok";
  const Comparison comparison = compared(base, other);
  EXPECT_THAT(comparison.only_base, ElementsAre(HasSubstr("vgg16")));
  EXPECT_EQ(exit_status(std::array{comparison}, false), 0);
  EXPECT_EQ(exit_status(std::array{comparison}, true), 4);
  EXPECT_EQ(exit_status(std::array{compared(other, base)}, true), 0) << "more than the base";
  std::ostringstream junit;
  print_junit(junit, std::array{comparison});
  EXPECT_THAT(junit.str(), HasSubstr("tests=\"2\" failures=\"0\" skipped=\"1\""));
  EXPECT_THAT(junit.str(),
              HasSubstr("<skipped message=\"new has no successful run of this workload\"/>"));
}

TEST(Comparison, RefusesAnUnknownMetric) {
  EXPECT_THROW(compared({made_run({})}, {made_run({})}, {.metrics = {"speed"}}), DataError);
}

/// Runs whose records say that other programs used the machine.
std::vector<StoredRun> disturbed_runs_of(std::vector<StoredRun> runs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) mark_disturbed(runs[i]);
  return runs;
}

TEST(Comparison, OfDisturbedRunsIsNoRegression) {
  const std::vector<StoredRun> base = made_runs(6, {.rate = 100}, 0.005, 1);
  const std::vector<StoredRun> slow = disturbed_runs_of(made_runs(6, {.rate = 60}, 0.005, 2), 6);
  for (const Comparison& comparison : {compared(base, slow), compared(slow, base)}) {
    EXPECT_EQ(comparison.rows[0].verdict, ChangeVerdict::kDisturbed);
    EXPECT_EQ(exit_status(std::span(&comparison, 1), false), 0);
    EXPECT_EQ(exit_status(std::span(&comparison, 1), true), 4);
    EXPECT_THAT(verdict_text(comparison.rows[0], {}), HasSubstr("use compare --run"));
    EXPECT_THAT(remarks(comparison), Contains(HasSubstr(": other programs used the processors")));
  }
  const Comparison trusted = compared(base, slow, {.trust_disturbed = true});
  EXPECT_EQ(trusted.rows[0].verdict, ChangeVerdict::kRegressed);
  EXPECT_EQ(exit_status(std::span(&trusted, 1), false), 1);
}

TEST(Comparison, TheGeomeanOmitsDisturbedWorkloads) {
  std::vector<StoredRun> base;
  std::vector<StoredRun> other;
  for (const char* model : {"alexnet", "lenet", "vgg16"}) {
    const bool slow = std::string_view(model) == "vgg16";
    const std::vector<StoredRun> before = made_runs(6, {.model = model}, 0.005, 1);
    const std::vector<StoredRun> after =
        made_runs(6, {.model = model, .rate = slow ? 50.0 : 100.0}, 0.005, 2);
    base.insert(base.end(), before.begin(), before.end());
    const std::vector<StoredRun> marked = disturbed_runs_of(after, slow ? 6 : 0);
    other.insert(other.end(), marked.begin(), marked.end());
  }
  const Comparison comparison = compared(base, other);
  ASSERT_EQ(comparison.geomeans.size(), 1);
  EXPECT_NEAR(comparison.geomeans[0].mean.log_ratio, 0, 0.02);
  EXPECT_EQ(geomean_scope(comparison.geomeans[0]), "over 2 workloads (1 disturbed omitted)");
  const Comparison trusted = compared(base, other, {.trust_disturbed = true});
  EXPECT_EQ(geomean_scope(trusted.geomeans[0]), "over 3 workloads");
  const Comparison all = compared(base, disturbed_runs_of(other, 18));
  EXPECT_THAT(all.geomeans, IsEmpty());
  EXPECT_THAT(all.notes, Contains("images_per_sec: no geomean, because 3 of 3 workloads are "
                                  "disturbed"));
}

TEST(Comparison, OneDisturbedRunInEightHidesNoRegression) {
  const std::vector<StoredRun> base = made_runs(8, {.rate = 100}, 0.005, 1);
  const std::vector<StoredRun> other = made_runs(8, {.rate = 98}, 0.005, 2);
  EXPECT_EQ(compared(base, disturbed_runs_of(other, 1)).rows[0].verdict, ChangeVerdict::kRegressed);
  EXPECT_EQ(compared(base, disturbed_runs_of(other, 2)).rows[0].verdict, ChangeVerdict::kDisturbed);
}

TEST(Comparison, PairsAreDisturbedOnlyIfOneSideIsMoreThanTheOther) {
  const std::vector<StoredRun> base = made_runs(8, {.rate = 100}, 0.005, 1);
  const std::vector<StoredRun> other = made_runs(8, {.rate = 98}, 0.005, 2);
  const CompareOptions paired{.paired = true};
  EXPECT_EQ(
      compared(disturbed_runs_of(base, 8), disturbed_runs_of(other, 8), paired).rows[0].verdict,
      ChangeVerdict::kRegressed);
  const Comparison one_side = compared(base, disturbed_runs_of(other, 5), paired);
  EXPECT_EQ(one_side.rows[0].verdict, ChangeVerdict::kDisturbed);
  EXPECT_THAT(verdict_text(one_side.rows[0], {}), HasSubstr("run again on a quiet machine"));
}

TEST(Comparison, MemoryIsJudgedOnADisturbedMachineToo) {
  std::vector<StoredRun> base = disturbed_runs_of(made_runs(8, {}, 0.005, 1), 8);
  std::vector<StoredRun> other = disturbed_runs_of(made_runs(8, {}, 0.005, 2), 8);
  for (auto* side : {&base, &other}) {
    for (StoredRun& run : *side) {
      run.metrics["peak_rss"] = {
          .value = run.metrics["images_per_sec"].value * (side == &other ? 1.2e6 : 1e6),
          .unit = "bytes",
          .better = Better::kLower};
    }
  }
  EXPECT_EQ(compared(base, other, {.metrics = {"peak_rss"}}).rows[0].verdict,
            ChangeVerdict::kRegressed);
}

TEST(Comparison, RarelyFindsRegressionsInEqualRuns) {
  int regressed = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Comparison comparison =
        compared(made_runs(8, {}, 0.01, 1000 + 2 * i), made_runs(8, {}, 0.01, 1001 + 2 * i));
    regressed += exit_status(std::span(&comparison, 1), false);
  }
  std::cout << "A/A at CV 1 %: " << regressed << " of 200 comparisons exit with 1\n";
  EXPECT_LE(regressed, 13);
}

}  // namespace
}  // namespace bench::results
