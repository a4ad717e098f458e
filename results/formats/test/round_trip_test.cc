#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"
#include "results/formats/format.h"
#include "results/formats/record_view.h"
#include "results/formats/test/example_run.h"

namespace bench::results {
namespace {

/// The example run, sent through `format` and back.
StoredRun there_and_back(const std::string& format, std::size_t runs = 1) {
  const ScratchFolder folder;
  std::vector<StoredRun> sent;
  for (std::size_t i = 0; i < runs; ++i) sent.push_back(example_run());
  const Outputs outputs = format_to_write(format).write(sent);
  write_outputs(outputs, folder.path());
  const Records records = read_foreign(folder.path() / outputs.front().name);
  EXPECT_EQ(records.size(), runs);
  return run_of(records.front());
}

TEST(RoundTrip, EveryFormatThatIsReadAndWrittenKeepsTheSpeed) {
  int tried = 0;
  for (const Format& format : formats()) {
    if (format.read == nullptr || format.write == nullptr) continue;
    const StoredRun back = there_and_back(format.name);
    EXPECT_EQ(metric_value(back, "images_per_sec"), 24.0) << format.name;
    EXPECT_EQ(back.metrics.at("images_per_sec").better, Better::kHigher) << format.name;
    EXPECT_EQ(back.metrics.at("images_per_sec").unit, "images/s") << format.name;
    ++tried;
  }
  EXPECT_EQ(tried, 4);
}

TEST(RoundTrip, TensorFlowsLogsKeepTheWorkload) {
  const StoredRun back = there_and_back("tf-logs");
  const StoredRun sent = example_run();
  EXPECT_EQ(back.start_ms, sent.start_ms);
  EXPECT_EQ(back.git_rev, sent.git_rev);
  for (const char* path :
       {"workload.mode", "workload.data", "workload.batch_per_device", "workload.global_batch",
        "workload.devices", "workload.layout", "workload.optimizer", "workload.num_batches",
        "workload.num_epochs", "tensorflow_env", "dataset.name", "cpu.model", "cpu.threads",
        "memory.total", "memory.available", "time.end_utc"}) {
    ASSERT_NE(field(back.record, path), nullptr) << path;
    EXPECT_EQ(*field(back.record, path), *field(sent.record, path)) << path;
  }
  // The logs have the printed name.
  EXPECT_EQ(text_field(back.record, "workload.model"), "lenet5");
}

TEST(RoundTrip, TensorFlowsRunLogIsTheSameASecondTime) {
  Record record = example_record();
  record.flags.output["benchmark_test_id"] = std::string("day 7");
  const std::vector<StoredRun> sent = {run_of(nlohmann::json::parse(record_json(record)))};
  const ScratchFolder folder;
  const Outputs first = format_to_write("tf-logs").write(sent);
  write_outputs(first, folder.path());
  const std::vector<StoredRun> back = {run_of(read_foreign(folder.path() / first[0].name)[0])};
  EXPECT_EQ(format_to_write("tf-logs").write(back)[0].contents, first[0].contents);
}

TEST(RoundTrip, TensorFlowsLogsOfSeveralRunsAreReadFromTheirFolder) {
  nlohmann::json other = example_run().record;
  other["source"]["git_rev"] = "def456";
  other["record_id"] = content_id(other);
  const std::vector<StoredRun> sent = {example_run(), run_of(other)};
  const ScratchFolder folder;
  write_outputs(format_to_write("tf-logs").write(sent), folder.path());
  EXPECT_EQ(files_with_runs(folder.path()).size(), 2U);
  std::set<std::string> revisions;
  for (const StoredRun& run : runs_in(folder.path())) revisions.insert(run.git_rev);
  EXPECT_EQ(revisions, (std::set<std::string>{"abc123", "def456"}));
}

TEST(RoundTrip, BothOfTensorFlowsLogsGiveTheSameRun) {
  const ScratchFolder folder;
  write_outputs(format_to_write("tf-logs").write(std::vector{example_run()}), folder.path());
  EXPECT_EQ(read_foreign(folder.path() / "benchmark_run.log"),
            read_foreign(folder.path() / "metric.log"));
}

TEST(RoundTrip, CsvKeepsEveryColumnAndMetric) {
  const StoredRun back = there_and_back("csv");
  const StoredRun sent = example_run();
  EXPECT_EQ(back.start_ms, sent.start_ms);
  for (const auto& [name, metric] : sent.metrics) {
    EXPECT_EQ(metric_value(back, name), metric.value) << name;
  }
  EXPECT_EQ(text_field(back.record, "cpu.model"), "EPYC <9654>");
  EXPECT_EQ(text_field(back.record, "workload.dtype"), "f32");
  EXPECT_EQ(text_field(back.record, "imported.record_id"), sent.record_id);
}

TEST(RoundTrip, CsvKeepsATextThatASpreadsheetWouldCompute) {
  nlohmann::json record = example_run().record;
  record["label"] = "=HYPERLINK(\"x\")";
  record["tags"] = {{"site", "@ams"}, {"rack", "'7"}, {"rack.row", "2"}};
  record["record_id"] = content_id(record);
  const ScratchFolder folder;
  const Outputs outputs = format_to_write("csv").write(std::vector{run_of(record)});
  EXPECT_NE(outputs[0].contents.find("\"'=HYPERLINK(\"\"x\"\")\""), std::string::npos);
  EXPECT_NE(outputs[0].contents.find(",'@ams,"), std::string::npos);
  write_outputs(outputs, folder.path());
  const StoredRun back = run_of(read_foreign(folder.path() / outputs[0].name).front());
  EXPECT_EQ(back.label, "=HYPERLINK(\"x\")");
  EXPECT_EQ(back.tags.at("site"), "@ams");
  EXPECT_EQ(back.tags.at("rack"), "'7");
  EXPECT_EQ(back.tags.at("rack.row"), "2");
}

TEST(RoundTrip, GoogleBenchmarkKeepsEveryMetricAsACounter) {
  const StoredRun back = there_and_back("google-benchmark", 2);
  for (const auto& [name, metric] : example_run().metrics) {
    EXPECT_EQ(metric_value(back, name), metric.value) << name;
  }
}

TEST(RoundTrip, LntKeepsSpeedStepTimeMemoryAndRevision) {
  const StoredRun back = there_and_back("lnt", 3);
  const StoredRun sent = example_run();
  for (const char* name : {"images_per_sec", "step_time.mean", "peak_rss"}) {
    EXPECT_EQ(metric_value(back, name), metric_value(sent, name)) << name;
  }
  EXPECT_EQ(back.git_rev, "abc123");
}

TEST(RoundTrip, LntKeepsTheUnitOfTheSpeed) {
  // LNT replaces a report by a later one of the same machine and revision.
  const Outputs outputs =
      format_to_write("lnt").write(std::vector{example_run(), example_run_of_tokens()});
  ASSERT_EQ(outputs.size(), 1U);
  const ScratchFolder folder;
  write_outputs(outputs, folder.path());
  std::map<std::string, double> speeds;
  for (const nlohmann::json& record : read_foreign(folder.path() / outputs[0].name)) {
    const StoredRun run = run_of(record);
    speeds[speed_metric(run)] += speed_of(run).value_or(0);
  }
  EXPECT_EQ(speeds,
            (std::map<std::string, double>{{"images_per_sec", 24}, {"tokens_per_sec", 24 * 35}}));
}

TEST(RoundTrip, TensorFlowsLogsCountTheExamplesOfTokens) {
  const ScratchFolder folder;
  const Outputs outputs = format_to_write("tf-logs").write(std::vector{example_run_of_tokens()});
  write_outputs(outputs, folder.path());
  const StoredRun back = run_of(read_foreign(folder.path() / outputs.front().name).front());
  EXPECT_EQ(back.status, "ok");
  EXPECT_EQ(metric_value(back, "examples_per_sec"), 24);
  EXPECT_EQ(metric_value(back, "images_per_sec"), std::nullopt);
}

TEST(RoundTrip, NamesStayEqualTheSecondTime) {
  for (const char* format : {"google-benchmark", "lnt"}) {
    const std::vector<StoredRun> sent = {example_run()};
    const std::vector<StoredRun> back = {there_and_back(format)};
    const auto name = [&](const std::vector<StoredRun>& runs) {
      const auto root = nlohmann::json::parse(format_to_write(format).write(runs)[0].contents);
      return root[root.contains("tests") ? "tests" : "benchmarks"][0]["name"];
    };
    EXPECT_EQ(name(back), name(sent)) << format;
  }
}

TEST(Imported, MissingValuesAreNullWithAReason) {
  const nlohmann::json record = there_and_back("tf-logs").record;
  std::set<std::string> nulls;
  const auto collect = [&](auto&& self, const nlohmann::json& value,
                           const std::string& path) -> void {
    if (value.is_null()) nulls.insert(path);
    if (!value.is_object()) return;
    for (const auto& [name, inner] : value.items()) {
      self(self, inner, path.empty() ? name : fmt::format("{}.{}", path, name));
    }
  };
  collect(collect, record, "");
  EXPECT_TRUE(nulls.count("workload.dtype") == 1 && nulls.count("host.kernel") == 1);
  for (const std::string& path : nulls) {
    EXPECT_TRUE(record["capture_errors"].contains(path)) << path;
  }
  for (const auto& [path, why] : record["capture_errors"].items()) {
    EXPECT_EQ(why, "not in the imported tf-logs file") << path;
    EXPECT_EQ(field(record, path), nullptr) << path;
  }
}

TEST(Imported, TheSameFileGivesTheSameRecord) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "a.csv") << "model,images_per_sec\nx,3.5\n";
  EXPECT_EQ(read_foreign(folder.path() / "a.csv"), read_foreign(folder.path() / "a.csv"));
}

}  // namespace
}  // namespace bench::results
