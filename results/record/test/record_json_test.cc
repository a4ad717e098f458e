#include "results/record/record_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "results/record/identity.h"

namespace bench::results {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

Record small_record() {
  Record record;
  record.run_uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
  record.status = Status::kOk;
  record.workload.model = "resnet50";
  record.flags = {
      .given = {{"batch_size", std::int64_t{32}}},
      .workload = {{"aux_head", false}, {"momentum", 0.9}},
      .execution = {{"all_reduce_spec", std::monostate()}, {"autotune", std::string("off")}},
      .command_line = {"bench", "--batch_size=32"}};
  record.batch_choice = {
      .rule = "auto", .tried = {{.batch = 32, .images_per_sec = 12.5, .spread = 0.25, .steps = 5}}};
  record.build.libs = {{.name = "libc.so.6", .version = "2.36"}};
  record.cpu.processors_used = std::vector<int>{0, 2};
  record.metrics = {
      {.name = "images_per_sec", .value = 12.5, .unit = "images/s", .better = Better::kHigher},
      {.name = "peak_rss",
       .value = Unknown{"no permission"},
       .unit = "bytes",
       .better = Better::kLower}};
  record.series.step_ns = {nanoseconds(5'000'000'000), nanoseconds(7)};
  record.series.device_ns = {nanoseconds(4'000'000'000), nanoseconds(6)};
  record.series.loss = {1.0 / 3, 2.5};
  record.series.top_1 = {0.25, 0};
  record.series.top_5 = {1, 0.5};
  record.implementations = {{"conv2d", "brgconv:avx512_core", "NHWC", 53}};
  record.choices = {
      .by = "timed",
      .made_for = {{"model", "resnet50"}},
      .nodes = {{"conv1",
                 {.implementation = "brg", .inputs = {"nhwc", "oihw"}, .outputs = {"nhwc"}}}},
      .held = {{"images", "nhwc"}},
      .reduced_on = "devices"};
  record.quality.warnings = {"busy"};
  return record;
}

TEST(RecordJson, HasTheSectionsOfTheSchemaInItsOrder) {
  const auto out = nlohmann::ordered_json::parse(record_json(small_record()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : out.items()) keys.push_back(key);
  EXPECT_THAT(keys, ::testing::ElementsAre(
                        "schema", "record_id", "run_uuid", "group_id", "repeat_index",
                        "order_index", "label", "tags", "reason", "reportable", "violations",
                        "status", "partial", "status_reason", "time", "workload", "flags",
                        "batch_choice", "dataset", "source", "build", "host", "cpu", "memory",
                        "gpu", "towers", "evaluations", "process", "env", "tensorflow_env", "load",
                        "cpu_watched", "energy", "roof", "kernels", "cost", "metrics", "series",
                        "implementations", "choices", "verification", "quality", "capture_errors"));
  EXPECT_EQ(out["schema"], "bench.record/2");
}

TEST(RecordJson, HoldsTheComparisonOfInt8WithF32) {
  Record record = small_record();
  EXPECT_FALSE(json::parse(record_json(record)).contains("quantization"));
  record.quantization = {.centred_snr_db = Unknown{"no signal"},
                         .snr_db = 31.5,
                         .images = 32,
                         .same_top_1 = 30,
                         .classes_named = 7,
                         .correct_f32 = 28,
                         .correct_int8 = 27,
                         .images_seen = true,
                         .trained = true};
  const json out = json::parse(record_json(record));
  EXPECT_EQ(out["quantization"], (json{{"centred_snr_db", nullptr},
                                       {"snr_db", 31.5},
                                       {"images", 32},
                                       {"same_top_1", 30},
                                       {"classes_named", 7},
                                       {"correct_f32", 28},
                                       {"correct_int8", 27},
                                       {"images_seen", true},
                                       {"trained", true}}));
  EXPECT_EQ(out["capture_errors"]["quantization.centred_snr_db"], "no signal");
}

TEST(RecordJson, HoldsACardAndItsSensors) {
  Record record = small_record();
  EXPECT_EQ(json::parse(record_json(record))["gpu"], json::array());
  Gpu gpu{.name = "H100",
          .compute_capability = "9.0",
          .pci_bus_id = "0000:0e:00.0",
          .uuid = "GPU-1",
          .power_limit_watts = 700.0,
          .counted_sm_mhz = 1751.5};
  gpu.watched =
      GpuWatched{.window = std::chrono::seconds(10),
                 .samples = 4,
                 .sm_mhz = Spread{.mean = 1700, .min = 1600, .max = 1800},
                 .watts = Unknown{"not supported"},
                 .clock_events = ClockEvents{.samples = {0x4, 0x4, 0x24, 0}},
                 .thermal_violation = nanoseconds(12),
                 .joules = 4000.0,
                 .others_count = 1,
                 .others = std::vector<GpuProcess>{{.pid = 17, .memory = Unknown{"hidden"}}}};
  record.gpus = {gpu};
  const json out = json::parse(record_json(record));
  const json card = out["gpu"][0];
  EXPECT_EQ(card["name"], "H100");
  EXPECT_EQ(card["pci_bus_id"], "0000:0e:00.0");
  EXPECT_EQ(card["power_limit_watts"], 700.0);
  EXPECT_EQ(card["counted_sm_mhz"], 1751.5);
  const json watched = card["watched"];
  EXPECT_EQ(watched["source"], "board sensor, not wall");
  EXPECT_EQ(watched["window_ns"], 10'000'000'000);
  EXPECT_EQ(watched["sm_mhz"], (json{{"mean", 1700.0}, {"min", 1600.0}, {"max", 1800.0}}));
  EXPECT_EQ(watched["clock_events"],
            json::parse(
                R"({"bits": 36, "shares": {"sw_power_cap": 0.75, "sw_thermal_slowdown": 0.25}})"));
  EXPECT_EQ(watched["thermal_violation_ns"], 12);
  EXPECT_EQ(watched["counted_watts"], 400.0);
  EXPECT_EQ(watched["others_count"], 1);
  EXPECT_EQ(watched["others"], json::parse(R"([{"pid": 17, "memory": null}])"));
  EXPECT_TRUE(watched["watts"].is_null());
  EXPECT_EQ(out["capture_errors"]["gpu.0.watched.watts"], "not supported");
  EXPECT_EQ(out["capture_errors"]["gpu.0.watched.others.0.memory"], "hidden");
  EXPECT_EQ(out["capture_errors"]["gpu.0.ecc"], "not captured");

  record.gpus[0].watched = Unknown{"no driver"};
  const json unwatched = json::parse(record_json(record));
  EXPECT_TRUE(unwatched["gpu"][0]["watched"].is_null());
  EXPECT_EQ(unwatched["capture_errors"]["gpu.0.watched"], "no driver");
}

TEST(RecordJson, HoldsLabelsAndConditions) {
  Record record = small_record();
  json out = json::parse(record_json(record));
  for (const char* path : {"group_id", "label", "reportable", "cost", "load.busy_processes",
                           "load.cgroup_throttling.time_ns", "cpu_watched.mhz", "energy.joules",
                           "dataset.storage", "quality.score"}) {
    EXPECT_TRUE(out["capture_errors"].contains(path)) << path;
  }
  EXPECT_EQ(out["reason"], "adhoc");
  record.labels = {.group_id = "g",
                   .repeat_index = 1,
                   .order_index = 2,
                   .label = "before",
                   .tags = {{"site", "ams"}},
                   .reason = "nightly",
                   .reportable = false,
                   .violations = {"dirty"}};
  record.cost = Cost{.currency = "EUR",
                     .capex = 25000.0,
                     .hourly = Unknown{"bought"},
                     .watts = 400.0,
                     .years = 4.0,
                     .utilization = 0.8,
                     .kwh_price = 0.25,
                     .pue = 1.5};
  record.load.busy = std::vector<BusyProcess>{{"cc1plus", 1.5}};
  record.energy = {.source = "rapl",
                   .domains = {{"package-0", 12.5}},
                   .joules = 12.5,
                   .idle_watts = Unknown{"no"},
                   .coverage = "processors"};
  record.cpu_watched.mhz = std::vector<double>{2000, 3000};
  record.dataset.image_type = "u8";
  record.dataset.image_bytes = 150528;
  record.dataset.storage =
      Storage{.filesystem = "ext4", .device = "/dev/sda", .rotational = false, .scheduler = "none"};
  out = json::parse(record_json(record));
  EXPECT_EQ(out["tags"], json({{"site", "ams"}}));
  EXPECT_EQ(out["order_index"], 2);
  EXPECT_EQ(out["violations"], json({"dirty"}));
  EXPECT_EQ(out["cost"]["capex"], 25000.0);
  EXPECT_EQ(out["cost"]["watts"], 400.0);
  EXPECT_EQ(out["cost"]["utilization"], 0.8);
  EXPECT_EQ(out["capture_errors"]["cost.hourly"], "bought");
  EXPECT_EQ(out["load"]["busy_processes"][0]["name"], "cc1plus");
  EXPECT_EQ(out["energy"]["domains"][0]["joules"], 12.5);
  EXPECT_EQ(out["cpu_watched"]["mhz_spread"], json::parse(R"({"mean": 2500.0, "min": 2000.0,
                                                              "max": 3000.0})"));
  EXPECT_EQ(out["dataset"]["image_type"], "u8");
  EXPECT_EQ(out["dataset"]["image_bytes"], 150528);
  EXPECT_EQ(out["dataset"]["storage"]["fs"], "ext4");
}

TEST(RecordJson, HoldsTheVerdictAndItsReasons) {
  Record record = small_record();
  json out = json::parse(record_json(record));
  EXPECT_TRUE(out["quality"]["verdict"].is_null());
  EXPECT_EQ(out["capture_errors"]["quality.verdict"], "only runs on a GPU are judged");
  record.quality.verdict = Verdict::kInvalid;
  record.quality.reasons = {"heat"};
  record.quality.unread = {"the list of processes"};
  record.quality.score = 60;
  record.quality.deductions = {"40 for heat"};
  out = json::parse(record_json(record));
  EXPECT_EQ(out["quality"], json::parse(R"({"verdict": "INVALID", "reasons": ["heat"],
                              "unread": ["the list of processes"], "warnings": ["busy"],
                              "score": 60.0, "deductions": ["40 for heat"]})"));
  record.quality.verdict = Verdict::kValid;
  EXPECT_EQ(json::parse(record_json(record))["quality"]["verdict"], "VALID");
}

TEST(RecordJson, KeepsTypesAndEveryStep) {
  const json out = json::parse(record_json(small_record()));
  EXPECT_EQ(out["flags"]["given"]["batch_size"], 32);
  EXPECT_EQ(out["batch_choice"], json::parse(R"({"rule": "auto", "tried": [
    {"batch": 32, "images_per_sec": 12.5, "spread": 0.25, "steps": 5}]})"));
  EXPECT_EQ(out["flags"]["workload"]["aux_head"], false);
  EXPECT_EQ(out["flags"]["workload"]["momentum"], 0.9);
  EXPECT_EQ(out["flags"]["execution"]["autotune"], "off");
  EXPECT_EQ(out["cpu"]["processors_used"], json::array({0, 2}));
  EXPECT_EQ(out["series"]["step_ns"], json::array({5'000'000'000, 7}));
  EXPECT_EQ(out["series"]["device_ns"], json::array({4'000'000'000, 6}));
  EXPECT_EQ(out["series"]["loss"], json::array({1.0 / 3, 2.5}));
  EXPECT_EQ(out["series"]["top_1"], json::array({0.25, 0.0}));
  EXPECT_EQ(out["series"]["top_5"], json::array({1.0, 0.5}));
  EXPECT_EQ(out["metrics"][0]["value"], 12.5);
  EXPECT_EQ(out["metrics"][0]["better"], "higher");
  EXPECT_EQ(out["implementations"][0]["count"], 53);
  EXPECT_EQ(out["choices"], json::parse(R"({"by": "timed", "made_for": {"model": "resnet50"},
    "nodes": {"conv1": {"implementation": "brg", "inputs": ["nhwc", "oihw"], "outputs": ["nhwc"]}},
    "held": {"images": "nhwc"}, "reduced_on": "devices"})"));
  EXPECT_EQ(out["quality"]["warnings"][0], "busy");
}

TEST(RecordJson, MarksAnInterruptedRun) {
  Record record = small_record();
  record.status = Status::kAborted;
  record.partial = true;
  record.status_reason = "SIGINT";
  const json out = json::parse(record_json(record));
  EXPECT_EQ(out["status"], "aborted");
  EXPECT_EQ(out["partial"], true);
  EXPECT_EQ(out["status_reason"], "SIGINT");
}

TEST(RecordJson, GivesAReasonForEachNullAndNoReasonWithoutANull) {
  const json out = json::parse(record_json(small_record()));
  std::set<std::string> nulls;
  const std::function<void(const json&, const std::string&)> walk = [&](const json& node,
                                                                        const std::string& path) {
    if (node.is_null()) nulls.insert(path);
    if (!node.is_structured()) return;
    for (const auto& [key, value] : node.items()) {
      const bool metric = path == "metrics";
      const std::string step = metric ? value["name"].get<std::string>() : key;
      walk(value, path.empty() ? step : path + "." + step);
    }
  };
  walk(out, "");
  std::set<std::string> reasons;
  for (const auto& [path, why] : out["capture_errors"].items()) {
    EXPECT_NE(why, "") << path;
    reasons.insert(path);
  }
  EXPECT_EQ(nulls, reasons);
  EXPECT_EQ(out["capture_errors"]["metrics.peak_rss.value"], "no permission");
  EXPECT_EQ(out["capture_errors"]["build.libs.0.build_id"], "not captured");
  EXPECT_EQ(out["capture_errors"]["flags.execution.all_reduce_spec"],
            "not given, and has no default");
}

TEST(RecordJson, SaysWhyANumberThatIsNotFiniteIsNull) {
  Record record = small_record();
  record.metrics[0].value = std::numeric_limits<double>::infinity();
  const json out = json::parse(record_json(record));
  EXPECT_TRUE(out["metrics"][0]["value"].is_null());
  EXPECT_EQ(out["capture_errors"]["metrics.images_per_sec.value"], "not finite: inf");
}

TEST(RecordJson, ReplacesBytesThatAreNotUtf8) {
  Record record = small_record();
  record.flags.command_line = {"bench", "--data_dir=\xff\xfe"};
  const json out = json::parse(record_json(record));
  EXPECT_EQ(out["flags"]["command_line"][1], "--data_dir=\uFFFD\uFFFD");
}

TEST(RecordJson, IdentifiesTheRecordByItsContents) {
  const json out = json::parse(record_json(small_record()));
  json without_id = out;
  without_id.erase("record_id");
  EXPECT_EQ(out["record_id"], sha256_hex(without_id.dump()).substr(0, 16));

  EXPECT_EQ(record_json(small_record()), record_json(small_record()));
  Record other = small_record();
  other.series.step_ns[1] = nanoseconds(8);
  EXPECT_NE(json::parse(record_json(other))["record_id"], out["record_id"]);
}

}  // namespace
}  // namespace bench::results
