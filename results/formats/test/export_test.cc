#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "models/base/crc32c.h"
#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"
#include "results/formats/format.h"
#include "results/formats/record_view.h"
#include "results/formats/test/example_run.h"

namespace bench::results {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Outputs written(const char* format, const std::vector<StoredRun>& runs = {example_run()}) {
  return format_to_write(format).write(runs);
}

// Keys, their order and the form of the values are those of tf_cnn_benchmarks' logger.
TEST(TfLogs, AreTheOriginalsByteForByte) {
  const Outputs outputs = written("tf-logs");
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[0].name, "benchmark_run.log");
  EXPECT_EQ(
      outputs[0].contents,
      R"j({"model_name": "lenet5", "dataset": {"name": "imagenet (synthetic)"}, "machine_config": )j"
      R"({"cpu_info": {"num_cores": 4, "cpu_info": "EPYC <9654>", "mhz_per_cpu": 3700.0}, )"
      R"("gpu_info": {"count": 0}, "memory_total": 8589934592, "memory_available": 4294967296}, )"
      R"("test_id": null, "run_date": "2026-01-31T12:00:00.000000Z", "tensorflow_version": )"
      R"({"version": "bench 0.1.0", "git_hash": "abc123"}, "tensorflow_environment_variables": )"
      R"([{"name": "TF_CPP_MIN_LOG_LEVEL", "value": "1"}, )"
      R"({"name": "TF_XLA_FLAGS", "value": "--a"}], )"
      R"("run_parameters": [{"name": "batch_size", "long_value": 8}, )"
      R"({"name": "batch_size_per_device", "long_value": 8}, )"
      R"({"name": "data_format", "string_value": "NHWC"}, )"
      R"j({"name": "dataset", "string_value": "imagenet (synthetic)"}, )j"
      R"({"name": "devices", "string_value": "['/cpu:0']"}, )"
      R"({"name": "mode", "string_value": "training"}, )"
      R"({"name": "model", "string_value": "lenet5"}, {"name": "num_batches", "long_value": 3}, )"
      R"({"name": "num_epochs", "float_value": 1.873292084482351e-05}, )"
      R"({"name": "optimizer", "string_value": "sgd"}, )"
      R"({"name": "rewrite_config", "string_value": "None"}, )"
      R"({"name": "session_config", "string_value": ""}, )"
      R"({"name": "single_sess", "bool_value": "False"}]})"
      "\n");
  EXPECT_EQ(outputs[1].name, "metric.log");
  EXPECT_TRUE(outputs[1].append);
  EXPECT_EQ(
      outputs[1].contents,
      R"({"name": "current_examples_per_sec", "value": 16.0, "unit": null, "global_step": 1, )"
      R"("timestamp": "2026-01-31T12:00:02.500000Z", "extras": []})"
      "\n"
      R"({"name": "current_examples_per_sec", "value": 24.0, "unit": null, "global_step": 3, )"
      R"("timestamp": "2026-01-31T12:00:03.000000Z", "extras": []})"
      "\n"
      R"({"name": "average_examples_per_sec", "value": 24.0, "unit": null, "global_step": 3, )"
      R"("timestamp": "2026-01-31T12:00:03.000000Z", "extras": []})"
      "\n");
}

TEST(TfLogs, HaveTheAccuraciesOfEachPrintedStep) {
  Record record = example_record();
  record.series.top_1 = {0.125, 0.25, 0.5};
  record.series.top_5 = {0.5, 0.75, 1};
  const StoredRun run = run_of(nlohmann::json::parse(record_json(record)));
  const std::string log = written("tf-logs", {run})[1].contents;
  std::istringstream lines(log);
  std::vector<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    seen.push_back(fmt::format("{} {} {:g}", entry["global_step"].get<int>(),
                               entry["name"].get<std::string>(), entry["value"].get<double>()));
  }
  EXPECT_THAT(seen, ::testing::ElementsAre("1 current_examples_per_sec 16",
                                           "1 top_1_accuracy 0.125", "1 top_5_accuracy 0.5",
                                           "3 current_examples_per_sec 24", "3 top_1_accuracy 0.5",
                                           "3 top_5_accuracy 1", "3 average_examples_per_sec 24"));
}

/// data_format in the log of a run whose layers chose their layouts, with `images` as the layout of
/// the images.
std::string logged_format(const std::string& images, std::vector<Implementation> steps) {
  Record record = example_record();
  record.workload.layout = "auto";
  record.choices.held = {{"images", images}, {"fc.weight", "nhwc"}};
  record.implementations = std::move(steps);
  const StoredRun run = run_of(nlohmann::json::parse(record_json(record)));
  const nlohmann::json log = nlohmann::json::parse(written("tf-logs", {run})[0].contents);
  for (const nlohmann::json& one : log["run_parameters"]) {
    if (one["name"] == "data_format") return one["string_value"];
  }
  return "";
}

TEST(TfLogs, NameTheMostUsedFormatOfAnAutoPlan) {
  const auto conv = [](const char* layout, std::int64_t count) {
    return Implementation{.op = "conv2d", .implementation = "x", .layout = layout, .count = count};
  };
  EXPECT_EQ(logged_format("nchw", {conv("nChw16c", 1), conv("nc", 9)}), "NCHW");
  EXPECT_EQ(logged_format("nchw", {conv("nhwc", 3), conv("nchw", 1)}), "NHWC");
  EXPECT_EQ(logged_format("nhwc", {conv("w:Acdb16a", 5)}), "NHWC");
  EXPECT_EQ(logged_format("x", {}), "auto");
}

TEST(TfLogs, KeepTheVersionAndStepsOfAnotherProgram) {
  Record record = example_record();
  record.source.bench_version = "";
  record.workload.backend = "1.15.5";
  record.series = {};
  const StoredRun run = run_of(nlohmann::json::parse(record_json(record)));
  const Outputs outputs = written("tf-logs", {run});
  EXPECT_THAT(outputs[0].contents, HasSubstr(R"("tensorflow_version": {"version": "1.15.5")"));
  EXPECT_THAT(
      outputs[1].contents,
      HasSubstr(R"("average_examples_per_sec", "value": 24.0, "unit": null, "global_step": 3)"));
}

TEST(TfLogs, AreInSeparateFoldersForSeveralRuns) {
  const Outputs outputs = written("tf-logs", {example_run(), example_run()});
  ASSERT_EQ(outputs.size(), 4U);
  EXPECT_EQ(outputs[0].name, example_run().record_id + "/benchmark_run.log");
}

TEST(TfLogs, AppendToAnExistingMetricLog) {
  const ScratchFolder folder;
  write_outputs(written("tf-logs"), folder.path());
  write_outputs(written("tf-logs"), folder.path());
  std::ifstream file(folder.path() / "metric.log");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
}

template <class T>
T take(std::string_view& bytes) {
  T value{};
  check(bytes.size() >= sizeof value, "the record is incomplete");
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

/// One field of a protocol buffer: its number, and its bytes or its number.
struct WireField {
  std::uint64_t field = 0;
  std::string_view bytes{};
  std::uint64_t number = 0;
};

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = take<std::uint8_t>(bytes);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
}

WireField take_field(std::string_view& bytes) {
  const std::uint64_t key = take_varint(bytes);
  WireField out{.field = key >> 3U};
  std::size_t size = 0;
  switch (key & 7U) {
    case 0:
      out.number = take_varint(bytes);
      return out;
    case 1:
      size = 8;
      break;
    case 2:
      size = static_cast<std::size_t>(take_varint(bytes));
      break;
    case 5:
      size = 4;
      break;
    default:
      throw DataError("unknown wire type");
  }
  out.bytes = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return out;
}

/// The events of a TensorBoard file as texts.
std::vector<std::string> events_of(std::string_view file) {
  std::vector<std::string> seen;
  while (!file.empty()) {
    const std::string_view header = file.substr(0, 8);
    const auto size = static_cast<std::size_t>(take<std::uint64_t>(file));
    EXPECT_EQ(take<std::uint32_t>(file), mask_crc(crc32c(header)));
    std::string_view event = file.substr(0, size);
    file.remove_prefix(size);
    EXPECT_EQ(take<std::uint32_t>(file), mask_crc(crc32c(event)));
    WireField time = take_field(event);
    EXPECT_EQ(time.field, 1U);
    WireField next = take_field(event);
    if (next.field == 3) {
      seen.emplace_back(next.bytes);
      continue;
    }
    EXPECT_EQ(next.field, 2U);
    WireField summary = take_field(event);
    EXPECT_EQ(summary.field, 5U);
    WireField value = take_field(summary.bytes);
    const WireField tag = take_field(value.bytes);
    WireField number = take_field(value.bytes);
    EXPECT_EQ(number.field, 2U);
    seen.push_back(fmt::format("{} {:g} {} {:g}", next.number,
                               take<double>(time.bytes) - 1769860800, tag.bytes,
                               take<float>(number.bytes)));
  }
  return seen;
}

TEST(Tensorboard, EventsDecodeToTheSteps) {
  const Outputs outputs = written("tensorboard");
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_THAT(outputs[0].name, HasSubstr("/events.out.tfevents.1769860800.node7"));
  EXPECT_THAT(
      events_of(outputs[0].contents),
      ::testing::ElementsAre("brain.Event:2", "1 2.5 step_time_ms 500", "1 2.5 images_per_sec 16",
                             "1 2.5 loss 2", "2 2.75 step_time_ms 250", "2 2.75 images_per_sec 32",
                             "2 2.75 loss 1.5", "3 3 step_time_ms 250", "3 3 images_per_sec 32",
                             "3 3 loss 1"));
}

TEST(Tensorboard, HasTheTokensPerSecondOfEachStep) {
  EXPECT_THAT(events_of(written("tensorboard", {example_run_of_tokens()})[0].contents),
              ::testing::IsSupersetOf({"1 2.5 tokens_per_sec 560", "2 2.75 tokens_per_sec 1120"}));
}

TEST(MlperfSystem, HasEveryFieldOfTheDescription) {
  const nlohmann::json system = nlohmann::json::parse(written("mlperf-system")[0].contents);
  for (const char* name : {"submitter",
                           "division",
                           "status",
                           "system_name",
                           "number_of_nodes",
                           "host_processors_per_node",
                           "host_processor_model_name",
                           "host_processor_core_count",
                           "host_processor_vcpu_count",
                           "host_processor_frequency",
                           "host_processor_caches",
                           "host_processor_interconnect",
                           "host_memory_capacity",
                           "host_memory_configuration",
                           "host_storage_type",
                           "host_storage_capacity",
                           "host_networking",
                           "host_networking_topology",
                           "host_networking_card_count",
                           "accelerators_per_node",
                           "accelerator_model_name",
                           "accelerator_host_interconnect",
                           "accelerator_frequency",
                           "accelerator_on-chip_memories",
                           "accelerator_memory_configuration",
                           "accelerator_memory_capacity",
                           "accelerator_interconnect",
                           "accelerator_interconnect_topology",
                           "cooling",
                           "hw_notes",
                           "framework",
                           "other_software_stack",
                           "operating_system",
                           "sw_notes"}) {
    EXPECT_TRUE(system.contains(name)) << name;
  }
  EXPECT_EQ(system.size(), 34U);
  EXPECT_EQ(system["host_processor_core_count"], 2);
  EXPECT_EQ(system["host_memory_capacity"], "8 GiB");
  EXPECT_EQ(written("mlperf-system", {example_run(), example_run()}).size(), 1U);
}

TEST(GoogleBenchmark, CountsTheCompletedStepsAndOmitsUnknownValues) {
  Record record = example_record();
  record.workload.num_batches = 5000;  // The run ended after three, as with --max_seconds.
  const auto exported = [](const Record& what) {
    const StoredRun run = run_of(nlohmann::json::parse(record_json(what)));
    return nlohmann::json::parse(written("google-benchmark", {run})[0].contents);
  };
  const nlohmann::json known = exported(record);
  EXPECT_EQ(known["benchmarks"][0]["iterations"], 3);
  EXPECT_EQ(known["context"]["mhz_per_cpu"], 3700.0);
  EXPECT_EQ(known["context"]["num_cpus"], 4);
  EXPECT_FALSE(known["context"].contains("cpu_scaling_enabled"));  // Its governor is not known.
  record.cpu.max_mhz = Unknown{"no cpufreq"};
  record.cpu.base_mhz = Unknown{"no cpufreq"};
  record.cpu.governor = std::string("powersave");
  record.cpu.threads = Unknown{"not reported"};
  record.metrics.clear();
  const nlohmann::json unknown = exported(record);
  EXPECT_FALSE(unknown["benchmarks"][0].contains("iterations"));
  EXPECT_FALSE(unknown["context"].contains("mhz_per_cpu"));
  EXPECT_FALSE(unknown["context"].contains("num_cpus"));
  EXPECT_EQ(unknown["context"]["cpu_scaling_enabled"], true);
  record.cpu.governor = std::string("performance");
  EXPECT_EQ(exported(record)["context"]["cpu_scaling_enabled"], false);
}

TEST(Github, RepeatsAreOneEntryOfTheirMedian) {
  const nlohmann::json list =
      nlohmann::json::parse(written("github", {example_run(), example_run()})[0].contents);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0]["unit"], "images/s");
  EXPECT_EQ(list[0]["value"], 24.0);
  EXPECT_EQ(list[0]["range"], "24.0 to 24.0");
  EXPECT_TRUE(list[0]["name"].is_string() && list[0]["extra"].is_string());
}

TEST(Mllog, LinesHaveMlperfsKeysInOrder) {
  const std::string text = written("mllog")[0].contents;
  EXPECT_THAT(text, HasSubstr(R"(:::MLLOG {"namespace": "", "time_ms": 1769860800000, )"
                              R"("event_type": "POINT_IN_TIME", "key": "submission_benchmark", )"
                              R"("value": "lenet", "metadata": {"file": "bench", "lineno": 0}})"));
  EXPECT_THAT(text, HasSubstr(R"("key": "tracked_stats", "value": {"throughput": 16.0}, )"
                              R"("metadata": {"file": "bench", "lineno": 0, "step": 1}})"));
  EXPECT_THAT(text,
              HasSubstr(R"("event_type": "INTERVAL_END", "key": "run_stop", "value": null, )"
                        R"("metadata": {"file": "bench", "lineno": 0, "status": "success"}})"));
}

TEST(Phoronix, HasTheElementsOfItsSchemaInOrderAndEscapes) {
  const std::string text = written("phoronix", {example_run(), example_run()})[0].contents;
  std::size_t place = 0;
  for (const char* name : {"<Generated>",
                           "<Title>",
                           "<Description>",
                           "<Notes>",
                           "<LastModified>2026-01-31 12:00:03<",
                           "<TestClient>",
                           "<InternalTags>",
                           "<PreSetEnvironmentVariables>",
                           "<System>",
                           "<Identifier>",
                           "<TestClientVersion>",
                           "<Hardware>",
                           "EPYC &lt;9654&gt;",
                           "<Software>",
                           "<User>",
                           "<TimeStamp>2026-01-31 12:00:00<",
                           "<Notes>",
                           "<Result>",
                           "<Identifier>",
                           "<ProfileVersion>",
                           "<Title>",
                           "<AppVersion>",
                           "<Arguments>",
                           "<Description>",
                           "<Scale>",
                           "<Proportion>HIB<",
                           "<DisplayFormat>",
                           "<Data>",
                           "<Entry>",
                           "<Identifier>",
                           "<Value>24.0<",
                           "<RawString>24.0:24.0<"}) {
    place = text.find(name, place);
    ASSERT_NE(place, std::string::npos) << name;
    ++place;
  }
  EXPECT_THAT([] { written("phoronix", {}); },
              ThrowsMessage<UsageError>(HasSubstr("no runs to export")));
}

TEST(Phoronix, HasTheUnitOfTheSpeed) {
  nlohmann::json failed = example_run_of_tokens().record;
  failed["metrics"] = nlohmann::json::array();
  failed["record_id"] = content_id(failed);
  EXPECT_THAT(written("phoronix", {run_of(failed), example_run_of_tokens()})[0].contents,
              AllOf(HasSubstr("<Scale>tokens/sec</Scale>"), HasSubstr("<Value>840.0</Value>")));
}

TEST(ChromeTrace, HasACompleteEventPerStep) {
  const nlohmann::json root = nlohmann::json::parse(written("trace")[0].contents);
  std::vector<double> starts;
  for (const nlohmann::json& event : root["traceEvents"]) {
    if (event["ph"] == "X")
      starts.push_back(event["ts"].get<double>() + event["dur"].get<double>());
  }
  ASSERT_EQ(starts.size(), 3U);
  EXPECT_NEAR(starts[0], 2.5e6, 1);
  EXPECT_NEAR(starts[2], 3e6, 1);
}

TEST(ChromeTrace, HasTheTokensPerSecondOfEachStep) {
  const nlohmann::json root =
      nlohmann::json::parse(written("trace", {example_run_of_tokens()})[0].contents);
  std::vector<double> speeds;
  for (const nlohmann::json& event : root["traceEvents"]) {
    if (event["ph"] == "C") speeds.push_back(event["args"]["tokens/s"]);
  }
  EXPECT_THAT(speeds, ::testing::ElementsAre(560, 1120, 1120));
}

TEST(Formats, AnUnknownFormatIsRefusedWithAList) {
  EXPECT_THAT(
      [] { format_to_write("hyperfine"); },
      ThrowsMessage<UsageError>(HasSubstr("--format=hyperfine: not a format for export; the "
                                          "formats are tf-logs, google-benchmark, lnt, csv")));
}

TEST(Formats, EveryWriterAcceptsASparseRun) {
  Record record;
  record.status = Status::kOk;
  const StoredRun run = run_of(nlohmann::json::parse(record_json(record)));
  for (const Format& format : formats()) {
    if (format.write == nullptr) continue;
    EXPECT_FALSE(format.write(std::span(&run, 1)).empty()) << format.name;
  }
}

}  // namespace
}  // namespace bench::results
