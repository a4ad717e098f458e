#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"
#include "results/formats/format.h"
#include "results/formats/record_view.h"
#include "results/formats/test/example_run.h"
#include "results/formats/utc_time.h"

namespace bench::results {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Records read_text(const std::string& text, const std::string& name = "file") {
  const ScratchFolder folder;
  std::ofstream(folder.path() / name, std::ios::binary) << text;
  return read_foreign(folder.path() / name);
}

/// The one sentence in which `text` is refused, without the folder.
void expect_refused(const std::string& text, const std::string& part,
                    const std::string& name = "file") {
  EXPECT_THAT([&] { read_text(text, name); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(name + ": "), HasSubstr(part))))
      << text;
}

constexpr const char* kPrinted =
    "TensorFlow:  1.15\n"
    "Model:       resnet50\n"
    "Dataset:     imagenet (synthetic)\n"
    "Mode:        training\n"
    "SingleSess:  False\n"
    "Batch size:  128 global\n"
    "             64 per device\n"
    "Num batches: 100\n"
    "Num epochs:  0.01\n"
    "Devices:     ['/gpu:0', '/gpu:1']\n"
    "NUMA bind:   False\n"
    "Data format: NCHW\n"
    "Optimizer:   sgd\n"
    "Variables:   parameter_server\n"
    "==========\n"
    "Step\tImg/sec\ttotal_loss\n"
    "1\timages/sec: 135.5 +/- 0.0 (jitter = 0.0)\t8.169\n"
    "10\timages/sec: 136.1 +/- 0.3 (jitter = 0.6)\t7.593\n"
    "----------------------------------------------------------------\n"
    "total images/sec: 136.02\n"
    "----------------------------------------------------------------\n";

TEST(TfStdout, IsReadWithItsHeader) {
  const Records records = read_text(kPrinted);
  ASSERT_EQ(records.size(), 1U);
  const StoredRun run = run_of(records.front());
  EXPECT_EQ(metric_value(run, "images_per_sec"), 136.02);
  EXPECT_EQ(metric_value(run, "loss_first"), 8.169);
  EXPECT_EQ(metric_value(run, "loss_last"), 7.593);
  EXPECT_EQ(text_field(run.record, "workload.model"), "resnet50");
  EXPECT_EQ(text_field(run.record, "workload.backend"), "1.15");
  EXPECT_EQ(text_field(run.record, "workload.mode"), "train");
  EXPECT_EQ(text_field(run.record, "workload.data"), "synthetic");
  EXPECT_EQ(text_field(run.record, "dataset.name"), "imagenet");
  EXPECT_EQ(integer_field(run.record, "workload.batch_per_device"), 64);
  EXPECT_EQ(integer_field(run.record, "workload.devices"), 2);
  EXPECT_EQ(field(run.record, "workload.dtype"), nullptr);
}

TEST(TfStdout, HasTheOriginalsModes) {
  for (const auto& [printed, mode] : {std::pair{"forward only", "fwd"},
                                      {"forward-only", "fwd"},
                                      {"evaluation", "eval"},
                                      {"training + evaluation", "train"}}) {
    std::string text = kPrinted;
    text.replace(text.find("training"), std::string_view("training").size(), printed);
    EXPECT_EQ(text_field(read_text(text).front(), "workload.mode"), mode);
  }
}

TEST(TfStdout, SeveralRunsOfOneFileAreSeveralRecords) {
  const Records records = read_text(fmt::format("{0}noise\n{0}", kPrinted));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(text_field(records.back(), "workload.backend"), "1.15");
}

TEST(TfStdout, ARunThatDidNotEndIsRefusedByItsLine) {
  const std::string text = kPrinted;
  expect_refused(text.substr(0, text.find("total images")),
                 "the run that begins in line 2 has no line such as 'total images/sec'");
  expect_refused(text.substr(0, text.find("\t7.593")), "line 18: the line of a step has no loss");
}

TEST(TfStdout, KeepsTheUnitOfTheSpeed) {
  const StoredRun run =
      run_of(read_text(std::regex_replace(std::string(kPrinted), std::regex("images/"), "tokens/"))
                 .front());
  EXPECT_EQ(metric_value(run, "tokens_per_sec"), 136.02);
  EXPECT_EQ(metric_value(run, "images_per_sec"), std::nullopt);
  EXPECT_EQ(metric_value(run, "loss_last"), 7.593);
}

TEST(Hyperfine, EveryProcessIsARun) {
  const Records records = read_text(R"({"results": [{"command": "sleep 0.1", "mean": 0.15,
      "times": [0.1, 0.2], "memory_usage_byte": [1000, 2000], "exit_codes": [0, 3],
      "parameters": {"n": "4"}}]})");
  ASSERT_EQ(records.size(), 2U);
  const StoredRun first = run_of(records.front());
  EXPECT_EQ(metric_value(first, "wall_time"), 0.1);
  EXPECT_EQ(metric_value(first, "peak_rss"), 1000.0);
  EXPECT_EQ(first.metrics.at("wall_time").better, Better::kLower);
  EXPECT_EQ(first.tags.at("n"), "4");
  const StoredRun second = run_of(records.back());
  EXPECT_EQ(second.status, "failed");
  EXPECT_EQ(first.workload_key, second.workload_key);
}

TEST(Hyperfine, MalformedFilesAreRefusedByPlace) {
  expect_refused(R"({"results": [{"command": "x"}]})", "results[0] needs an array 'times'");
  expect_refused(R"({"results": [{"command": "x", "times": [0.1, "a"]}]})",
                 "results[0].times[1] is not a number");
  expect_refused(R"({"results": [{"command": "x", "times": []}]})", "'results' has no times");
  expect_refused("{\"results\": [\n{\"command\": \"x\", \"times\": [0.1",
                 "line 2: the JSON is incomplete");
  expect_refused("{\"results\": [\n{\"command\" \"x\"}]}", "line 2, column 14: not valid JSON");
}

constexpr const char* kGoogleFile = R"({"context": {"date": "2026-01-31T13:00:00+01:00",
    "host_name": "node7", "executable": "./x", "num_cpus": 4, "mhz_per_cpu": 3700,
    "library_build_type": "release"}, "benchmarks": [
    {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "repetitions": 2,
     "repetition_index": 0, "threads": 1, "iterations": 100, "real_time": 250, "cpu_time": 240,
     "time_unit": "us", "items_per_second": 32000, "flops": 1e9},
    {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "repetitions": 2,
     "repetition_index": 1, "threads": 1, "iterations": 100, "real_time": 260, "cpu_time": 250,
     "time_unit": "us"},
    {"name": "BM_x/8_mean", "run_name": "BM_x/8", "run_type": "aggregate", "real_time": 255,
     "cpu_time": 245, "time_unit": "us"}]})";

TEST(GoogleBenchmark, EveryRepetitionIsARunWithoutAggregates) {
  const Records records = read_text(kGoogleFile);
  ASSERT_EQ(records.size(), 2U);
  const StoredRun run = run_of(records.front());
  EXPECT_DOUBLE_EQ(run.metrics.at("real_time").value, 250e-6);
  EXPECT_EQ(metric_value(run, "items_per_second"), 32000.0);
  EXPECT_EQ(metric_value(run, "flops"), 1e9);
  EXPECT_EQ(text_field(run.record, "time.start_utc"), "2026-01-31T12:00:00.000Z");
  EXPECT_EQ(text_field(run.record, "imported.time_from"), "the file");
  EXPECT_EQ(run.workload_key, run_of(records.back()).workload_key);
}

TEST(GoogleBenchmark, MalformedFilesAreRefusedByPlace) {
  expect_refused(R"({"context": {}, "benchmarks": [{"name": "a", "time_unit": "h"}]})",
                 "benchmarks[0] has the unknown time_unit 'h'; accepted are s, ms, us and ns");
  expect_refused(R"({"context": {}, "benchmarks": [{"name": "a", "real_time": "1"}]})",
                 "benchmarks[0] needs a number 'real_time'");
  expect_refused(R"({"context": {}, "benchmarks": [7]})", "benchmarks[0] is not an object");
  expect_refused(R"({"context": {}, "benchmarks": []})", "'benchmarks' contains no runs");
  expect_refused(R"({"context": 3, "benchmarks": []})", "'context' in the file is not an object");
}

TEST(Lnt, SamplesAreRuns) {
  const Records records = read_text(R"({"format_version": "2", "machine": {"name": "m"},
      "run": {"start_time": "2026-01-31T12:00:00", "llvm_project_revision": "7"},
      "tests": [{"name": "a.b", "execution_time": [1.5, 2.5], "hash": "00"},
                {"name": "c", "score": 4, "execution_status": 1}]})");
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(metric_value(run_of(records[1]), "execution_time"), 2.5);
  EXPECT_EQ(run_of(records[1]).metrics.at("execution_time").better, Better::kLower);
  EXPECT_EQ(run_of(records[2]).status, "failed");
}

TEST(Lnt, OtherVersionsAndMalformedFilesAreRefused) {
  expect_refused(R"({"format_version": "1", "machine": {}, "tests": []})",
                 R"(format_version is "1", but only "2" is supported)");
  expect_refused(R"({"format_version": "2", "machine": {}, "run": {}, "tests": [{"a": 1}]})",
                 "tests[0] needs a string 'name'");
  expect_refused(R"({"format_version": "2", "machine": {}, "run": {},
                     "tests": [{"name": "x", "score": [1, {}]}]})",
                 "'score' in tests[0] is not a number");
}

TEST(Csv, CellsMayBeQuoted) {
  const Records records = read_text(
      "\xef\xbb\xbfmodel,tag.site,images_per_sec,odd\r\n\"a,\"\"b\"\"\",ams,1.5,\r\n", "a.csv");
  ASSERT_EQ(records.size(), 1U);
  const StoredRun run = run_of(records.front());
  EXPECT_EQ(text_field(run.record, "workload.model"), "a,\"b\"");
  EXPECT_EQ(run.tags.at("site"), "ams");
  EXPECT_EQ(metric_value(run, "images_per_sec"), 1.5);
  EXPECT_EQ(run.metrics.size(), 1U);
}

TEST(Csv, MalformedFilesAreRefusedByLineAndColumn) {
  expect_refused("model,speed\na,1\nb\n", "line 3: the number of cells is 1, but the header has 2");
  expect_refused(
      "model,speed\na,fast\n",
      "line 2, column 'speed': 'fast' is not a number; for text, name the column tag.speed");
  expect_refused("model,devices\na,two\n", "line 2, column 'devices': 'two' is not a number");
  expect_refused("model,start_utc\na,soon\n", "line 2, column 'start_utc': 'soon' is not a time");
  expect_refused("model,speed\n\"a,1\n", "line 2: the quoted cell has no closing quote");
  expect_refused("model,speed\n", "has a header but no runs");
}

TEST(TfLogs, NeedBothFiles) {
  EXPECT_THAT([] { read_text(R"({"model_name": "x"})", "benchmark_run.log"); },
              ThrowsMessage<DataError>(HasSubstr(
                  "metric.log: is missing; it must be in the folder of benchmark_run.log")));
}

TEST(TfLogs, AMalformedMetricIsRefusedByItsLine) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "benchmark_run.log") << R"({"model_name": "x"})";
  std::ofstream(folder.path() / "metric.log") << R"({"name": "a", "value": 1})"
                                              << "\n{\"name\": \"b\", \"value\": \"c\"}\n";
  EXPECT_THAT([&] { read_foreign(folder.path()); },
              ThrowsMessage<DataError>(HasSubstr("metric.log: line 2 needs a number 'value'")));
}

TEST(TfLogs, ARunWithoutATotalIsAFailedOne) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "benchmark_run.log") << R"({"model_name": "x"})";
  std::ofstream(folder.path() / "metric.log")
      << R"({"name": "current_examples_per_sec", "value": 1})";
  EXPECT_EQ(run_of(read_foreign(folder.path()).front()).status, "failed");
}

TEST(Foreign, AnUnknownFormatIsRefusedWithAList) {
  expect_refused(
      "hello\n",
      "has an unknown format; the formats that can be read are tf-logs, google-benchmark");
  expect_refused(" \n", "is empty");
  EXPECT_THAT([] { read_foreign("absent"); },
              ThrowsMessage<DataError>(HasSubstr("absent: cannot be opened")));
}

TEST(UtcTime, ReadsOffsetsAndDecimalsAndRefusesTheRest) {
  EXPECT_EQ(utc_ms("1970-01-01T00:00:01Z"), 1000);
  EXPECT_EQ(utc_ms("1970-01-01 01:00:00.25+01:00"), 250);
  EXPECT_EQ(utc_ms("1969-12-31T23:00:00-0100"), 0);
  EXPECT_EQ(utc_ms("1970-01-01T00:00:00.123456Z"), 123);
  for (const char* text :
       {"", "1970", "1970-13-01T00:00:00Z", "1970-02-30T00:00:00Z", "1970-01-01T24:00:00Z",
        "1970-01-01T00:00:00X", "x970-01-01T00:00:00Z"}) {
    EXPECT_EQ(utc_ms(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace bench::results
