#include "results/report/report_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/base/errors.h"
#include "results/report/disclosure.h"
#include "results/report/test/made_runs.h"
#include "results/stats/mann_whitney.h"

namespace bench::results {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

/// Two models on three systems, the third with one model only.
std::vector<StoredRun> grid() {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.model = "lenet", .threads = 1, .speed = 100});
  add_repeats(runs, {.model = "lenet", .threads = 2, .speed = 180});
  add_repeats(runs, {.model = "lenet", .threads = 4, .speed = 300});
  add_repeats(runs, {.model = "vgg", .threads = 1, .speed = 10});
  add_repeats(runs, {.model = "vgg", .threads = 2, .speed = 20});
  return runs;
}

TEST(ReportData, SystemsAreColumnsAndWorkloadsRows) {
  const std::vector<StoredRun> runs = grid();
  const ReportData data = report_data(runs, {});
  ASSERT_EQ(data.systems.size(), 3U);
  ASSERT_EQ(data.rows.size(), 2U);
  EXPECT_EQ(data.rows[0].name, "lenet, training, batch 8, f32");
  EXPECT_EQ(data.systems[0].name, "1 thread");
  EXPECT_EQ(data.systems[2].name, "4 threads");  // Has the fewest workloads.
  EXPECT_TRUE(data.rows[1].cells[2].empty());
  EXPECT_EQ(data.rows[0].cells[0].speed.n, 6U);
  EXPECT_NEAR(data.rows[0].cells[0].speed.median, 100, 1e-9);
  EXPECT_NEAR(*data.rows[0].cells[0].gigaflops, 200, 1e-9);
}

TEST(ReportData, RatiosAreTheStatisticsOfLogarithms) {
  const std::vector<StoredRun> runs = grid();
  const ReportData data = report_data(runs, {.reference = "2 threads"});
  EXPECT_EQ(data.systems.front().name, "2 threads");
  const ReportCell& reference = data.rows[0].cells[0];
  const ReportCell& other = data.rows[0].cells[1];
  EXPECT_FALSE(reference.log_ratio.has_value());
  std::vector<double> a;
  std::vector<double> b;
  for (const double x : reference.speeds) a.push_back(std::log(x));
  for (const double x : other.speeds) b.push_back(std::log(x));
  const stats::Shift shift = stats::hodges_lehmann(a, b, 0.05);
  EXPECT_EQ(other.log_ratio->estimate, shift.estimate);
  EXPECT_EQ(other.log_ratio->interval, shift.interval);
  EXPECT_NEAR(std::exp(shift.estimate), 100.0 / 180, 0.01);
}

TEST(ReportData, GeometricMeansAreOverCommonWorkloads) {
  const std::vector<StoredRun> runs = grid();
  const ReportData data = report_data(runs, {.reference = "1 thread"});
  EXPECT_FALSE(data.systems[0].geometric_mean.has_value());
  EXPECT_NEAR(std::exp(data.systems[1].geometric_mean->log_ratio), std::sqrt(1.8 * 2), 1e-9);
  EXPECT_EQ(data.systems[1].workloads_in_mean, 2U);
  EXPECT_NEAR(std::exp(data.systems[2].geometric_mean->log_ratio), 3, 1e-9);
  EXPECT_EQ(data.systems[2].workloads_in_mean, 1U);
  ASSERT_TRUE(data.systems[1].geometric_mean->interval.has_value());
  EXPECT_TRUE(data.systems[1].geometric_mean->interval->contains(std::log(std::sqrt(3.6))));
}

TEST(ReportData, RowsOfDifferentWorkloadsHaveDifferentNames) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 2, .speed = 100});
  add_repeats(runs, {.threads = 2, .optimizer = "adam", .speed = 80});
  add_repeats(runs, {.model = "alexnet", .threads = 2, .speed = 80});
  add_repeats(runs, {.threads = 8, .devices = 4, .optimizer = "adam", .speed = 200});
  const ReportData data = report_data(runs, {});
  std::vector<std::string> names;
  for (const ReportRow& row : data.rows) names.push_back(row.name);
  EXPECT_THAT(names, UnorderedElementsAre("alexnet, training, batch 8, f32",
                                          "lenet, training, batch 8, f32 (optimizer adam)",
                                          "lenet, training, batch 8, f32 (optimizer sgd)",
                                          "lenet, training, 4 devices with batch 8 each, f32"));
  ASSERT_EQ(data.scaling.size(), 1U);
  EXPECT_THAT(data.scaling[0].name, StartsWith("lenet, training, batch 8, f32 (optimizer adam), "));
  EXPECT_EQ(workload_name(data, runs.front()), "lenet, training, batch 8, f32 (optimizer sgd)");
  EXPECT_THAT(disclosure(data, false),
              HasSubstr(">lenet, training, batch 8, f32 (optimizer adam)</td>"));
}

TEST(ReportData, AReferenceMustNameOneSystem) {
  const std::vector<StoredRun> runs = grid();
  EXPECT_THAT([&] { report_data(runs, {.reference = "GPU"}); },
              ThrowsMessage<UsageError>(
                  HasSubstr("--reference=GPU: matches no system; the systems are '1 thread'")));
  EXPECT_THAT([&] { report_data(runs, {.reference = "EPYC"}); },
              ThrowsMessage<UsageError>(HasSubstr("--reference=EPYC: matches several systems; type "
                                                  "one of these names in full: '1 thread'")));
}

TEST(ReportData, AFullNameIsTheReferenceDespitePartialMatches) {
  std::vector<StoredRun> runs = grid();
  for (StoredRun& run : runs) {
    run.tags["system"] =
        run.machine.find("1 thread") != std::string::npos ? "EPYC" : "EPYC " + run.machine;
  }
  EXPECT_EQ(report_data(runs, {.reference = "EPYC"}).systems.front().name, "EPYC");
}

TEST(SystemTagNote, NamesSystemsWithDifferentTags) {
  std::vector<StoredRun> runs = {made_run({.threads = 2}, 0), made_run({.threads = 2}, 1),
                                 made_run({.threads = 2, .status = "failed"}, 2),
                                 made_run({.threads = 4}, 3), made_run({.threads = 4}, 4)};
  EXPECT_EQ(system_tag_note(runs), "");
  runs[2].tags["system"] = "failed";
  runs[3].tags["system"] = "a";
  runs[4].tags["system"] = "a";
  EXPECT_EQ(system_tag_note(runs), "");
  runs[4].tags["system"] = "b";
  EXPECT_THAT(system_tag_note(runs), EndsWith(": node7, EPYC, 4 threads ('a', 'b')"));
  runs[0].tags["system"] = "a";
  EXPECT_THAT(system_tag_note(runs), HasSubstr("EPYC, 2 threads ('a', no tag)"));
}

TEST(ReportData, RunsThatAreNotOkAreOmittedAndListed) {
  std::vector<StoredRun> runs = grid();
  runs.push_back(made_run({.status = "aborted"}));
  EXPECT_EQ(report_data(runs, {}).left_out.size(), 1U);
  const std::vector<StoredRun> none{made_run({.status = "failed"})};
  EXPECT_THAT([&] { report_data(none, {}); },
              ThrowsMessage<UsageError>(
                  HasSubstr("no run has both the status ok and a speed (runs read: 1)")));
}

TEST(ReportData, ScalingComparesWithOneDevice) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 2, .devices = 1, .speed = 100});
  add_repeats(runs, {.threads = 8, .devices = 4, .speed = 320});
  const ReportData data = report_data(runs, {});
  ASSERT_EQ(data.scaling.size(), 1U);
  ASSERT_EQ(data.scaling[0].points.size(), 1U);
  EXPECT_EQ(data.scaling[0].points[0].devices, 4);
  EXPECT_NEAR(std::exp(data.scaling[0].points[0].log_efficiency.estimate), 0.8, 1e-9);
}

TEST(ReportData, ScalingIsOfRunsThatDifferInNothingElse) {
  const MadeRun one{.threads = 2, .devices = 1, .speed = 100};
  const auto curves_with = [&](const MadeRun& several) {
    std::vector<StoredRun> runs;
    add_repeats(runs, one);
    add_repeats(runs, several);
    return report_data(runs, {}).scaling.size();
  };
  EXPECT_EQ(curves_with({.threads = 8, .devices = 4}), 1);
  EXPECT_EQ(curves_with({.threads = 2, .devices = 4}), 0) << "half a thread per device";
  EXPECT_EQ(curves_with({.threads = 8, .devices = 4, .strategy = "replicated"}), 0);
  EXPECT_EQ(curves_with({.threads = 8, .devices = 4, .optimizer = "adam"}), 0);
  EXPECT_EQ(curves_with({.threads = 8, .devices = 4, .gpu = "H100"}), 0);
}

TEST(ReportData, ScalingOfGpusIsWithTheSameThreadsOfTheHost) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 8, .devices = 1, .gpu = "H100", .speed = 100});
  add_repeats(runs, {.threads = 8, .devices = 4, .gpu = "H100", .speed = 380});
  add_repeats(runs, {.threads = 8, .devices = 2, .gpu = "T4", .speed = 50});
  const ReportData data = report_data(runs, {});
  ASSERT_EQ(data.scaling.size(), 1);
  ASSERT_EQ(data.scaling[0].points.size(), 1);
  EXPECT_NEAR(std::exp(data.scaling[0].points[0].log_efficiency.estimate), 0.95, 1e-9);
}

TEST(ReportData, UsesTheUnitOfEachRun) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.model = "lstm_lm", .speed = 400, .unit = "tokens", .joules = 0.25});
  EXPECT_EQ(common_unit(report_data(runs, {})), "token");
  add_repeats(runs, {.model = "ncf", .speed = 1000, .unit = "examples"});
  const ReportData data = report_data(runs, {});
  EXPECT_EQ(common_unit(data), "unit of work");
  ASSERT_EQ(data.rows.size(), 2U);
  EXPECT_EQ(data.rows[0].unit, "tokens");
  EXPECT_NEAR(data.rows[0].cells[0].speed.median, 400, 1e-9);
  EXPECT_NEAR(data.rows[0].cells[0].units_per_joule->median, 4, 1e-12);
  // 2 GFLOP per example of 4 tokens.
  EXPECT_NEAR(*data.rows[0].cells[0].gigaflops, 200, 1e-9);
  EXPECT_EQ(data.rows[1].unit, "examples");
  EXPECT_NEAR(*data.rows[1].cells[0].gigaflops, 2000, 1e-9);
}

TEST(ReportData, DoesNotMixUnitsInARow) {
  // An imported file may have both for one workload.
  const std::vector<StoredRun> runs = {made_run({.threads = 1, .speed = 10}),
                                       made_run({.threads = 2, .speed = 400, .unit = "tokens"}, 1)};
  const ReportData data = report_data(runs, {});
  ASSERT_EQ(data.rows.size(), 2U);
  EXPECT_NE(data.rows[0].unit, data.rows[1].unit);
}

TEST(ReportData, CountsTheTokensOfTheEnergyOfAMachine) {
  nlohmann::json record = made_run({.speed = 400, .unit = "tokens"}).record;
  record["energy"] = {{"joules", 4.0}};
  record["series"] = {{"step_ns", {1000, 1000, 1000}}};
  record["record_id"] = content_id(record);
  const std::vector<StoredRun> runs{stored_run(record, "made")};
  // 3 steps of 8 examples of 4 tokens.
  EXPECT_NEAR(report_data(runs, {}).rows[0].cells[0].units_per_joule->median, 24, 1e-12);
}

TEST(ReportData, TheEnergyOfAMachineIsNotUsedIfItIncludesMoreThanTheSteps) {
  nlohmann::json record = made_run({.speed = 100}).record;
  record["energy"] = {{"joules", 4.0}};
  record["workload"]["global_batch"] = 8;
  record["series"] = {{"step_ns", {1000, 1000, 1000}}};
  record["capture_errors"]["metrics.joules_per_image.value"] = "evaluations also used energy";
  record["record_id"] = content_id(record);
  const std::vector<StoredRun> runs{stored_run(record, "made")};
  EXPECT_FALSE(report_data(runs, {}).rows[0].cells[0].units_per_joule.has_value());
}

TEST(ReportData, ImagesPerJouleAreOfTheRunsThatKnow) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.joules = 0.5});
  const ReportData data = report_data(runs, {});
  EXPECT_NEAR(data.rows[0].cells[0].units_per_joule->median, 2, 1e-12);
  nlohmann::json record = runs.front().record;
  record["metrics"].erase(1);
  record["energy"] = {{"joules", 4.0}};
  record["workload"]["global_batch"] = 8;
  record["series"] = {{"step_ns", {1000, 1000, 1000}}};
  record["record_id"] = content_id(record);
  const std::vector<StoredRun> counted{stored_run(record, "made")};
  EXPECT_NEAR(report_data(counted, {}).rows[0].cells[0].units_per_joule->median, 6, 1e-12);
  EXPECT_FALSE(report_data(grid(), {}).rows[0].cells[0].units_per_joule.has_value());
}

TEST(ReportData, AGpuAndACpuShareAWorkload) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 2, .speed = 100});
  add_repeats(runs, {.threads = 4, .gpu = "H100", .speed = 900, .backend = "cuda"});
  ReportData data = report_data(runs, {});
  ASSERT_EQ(data.rows.size(), 1U);
  EXPECT_TRUE(data.rows[0].cells[1].log_ratio.has_value());
  EXPECT_EQ(workload_name(data, runs.back()), data.rows[0].name);
  // Two backends on one system: their speeds must not mix.
  add_repeats(runs, {.threads = 2, .speed = 10, .backend = "reference"});
  EXPECT_EQ(report_data(runs, {}).rows.size(), 3U);
}

TEST(ReportData, AnUndisturbedSystemIsTheReference) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .speed = 100, .disturbed = true});
  add_repeats(runs, {.threads = 2, .speed = 100});
  EXPECT_EQ(report_data(runs, {}).systems.front().name, "2 threads");
}

TEST(ReportData, WorkloadsAreNamedInWordsAndGrouped) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.model = "vgg16", .mode = "fwd", .dtype = "bf16"});
  add_repeats(runs, {.model = "lenet", .threads = 8, .devices = 4});
  const ReportData data = report_data(runs, {});
  EXPECT_EQ(data.rows[0].name, "vgg16, inference, batch 8, bf16");
  EXPECT_EQ(data.rows[0].group, "inference, bf16");
  EXPECT_EQ(data.rows[1].name, "lenet, training, 4 devices with batch 8 each, f32");
}

}  // namespace
}  // namespace bench::results
