#include "results/record/record_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "results/record/record_json.h"
#include "results/record/record_table.h"

namespace bench::results {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A record without an unknown value.
Record full_record() {
  using Texts = std::vector<std::string>;
  using TextMap = std::map<std::string, std::string>;
  const FlagValues values = {{"a", true}, {"b", std::int64_t{1}}, {"c", 0.5}, {"d", "x"}};
  const StepParts parts = {0.1, 0.2, 0.3, 0.4, 0.5, 0.1};
  const LoadSample load = {0.5, 0.25, 0.125, 1};
  const Spread spread = {.mean = 2, .min = 1, .max = 3};
  Record record;
  record.labels = {"g", 0, 1, "l", {{"site", "ams"}}, "nightly", true, {"dirty"}};
  record.timed_all_reduce = "ring";
  record.env = record.tensorflow_env = {{"OMP_NUM_THREADS", "1"}};
  record.time = {.tz = "+0100", .clocksource = "tsc"};
  record.workload.model_params = 25;
  record.workload.flops_per_image = 50;
  record.flags = {values, values, values, values, {"bench"}};
  record.batch_choice.tried = {{.batch = 8, .images_per_sec = 12.5, .spread = 0.1, .steps = 5}};
  record.dataset = {"imagenet", "u8", 3, 1, 2, 3, Storage{"ext4", "sda", "rw", false, "none"}};
  record.source = {"16a685e0", false, "2026-01-31T12:00:00Z", "0.1.0"};
  record.build.exe_sha256 = "00";
  record.build.libs = {{"libc.so.6", "2.36", "/lib/libc.so.6", "ab"}};
  record.host = {"node7",      "ab",
                 "x86_64",     "Debian",
                 "6.1",        "none",
                 "none found", "glibc 2.36",
                 "nosmt",      TextMap{{"meltdown", "Not affected"}},
                 "off",        {1.5, "0-1", 1 << 20}};
  record.cpu = {"AMD",
                "EPYC",
                "25/1/1",
                "0xa",
                1,
                2,
                4,
                true,
                Texts{"avx2"},
                Texts{"L1 Data 32K"},
                2.5e3,
                3.5e3,
                1.5e3,
                "performance",
                "acpi-cpufreq",
                "balance",
                6,
                true,
                1,
                Texts{"10"},
                "0-3",
                "0-3",
                std::vector<int>{0, 1},
                "avx2"};
  record.memory = {
      1, 2, 3, 4, "madvise", false, std::vector<Dimm>{{"A1", 1 << 30, "DDR5", 4800, "part"}}};
  record.process = {0, "other", 2, 1, 2, 3};
  record.load = {
      load, load, 0.1, 0.5, std::vector<BusyProcess>{{"cc1plus", 1.5}}, {1, nanoseconds(5)}};
  record.cpu_watched = {std::vector<double>{2e3, 3e3}, std::vector<double>{50, 60}};
  record.energy = {"rapl", {{"package-0", 12.5}}, 12.5, 3.5, "processors"};
  record.gpus = {{.name = "H100",
                  .compute_capability = "9.0",
                  .pci_bus_id = "0000:0e:00.0",
                  .uuid = "GPU-1",
                  .driver = "550",
                  .nvml = "12",
                  .memory_total = 80,
                  .memory_used = 1,
                  .ecc = true,
                  .persistence = true,
                  .mig = false,
                  .clocks = {1, 2, 3},
                  .clocks_max = {1, 2, 3},
                  .power_limit_watts = 700.0,
                  .power_limit_default_watts = 700.0,
                  .celsius = 40.0,
                  .pcie = {4, 16, 5, 16},
                  .counted_sm_mhz = 1751.5}};
  record.gpus[0].watched = GpuWatched{nanoseconds(10),
                                      4,
                                      spread,
                                      spread,
                                      spread,
                                      spread,
                                      ClockEvents{{0x4, 0}},
                                      nanoseconds(1),
                                      nanoseconds(2),
                                      4000.0,
                                      0,
                                      0,
                                      1,
                                      std::vector<GpuProcess>{{.pid = 17, .memory = 5}}};
  record.towers = {{.processors = {0, 1}, .mean = parts}};
  record.scaling = {1, 12.5, 0.75, parts};
  record.input = Input{
      .threads = 2, .images = 640, .bytes = 70000000, .storage_bytes = 1000, .bound = "decode"};
  record.world = {.launcher = "srun",
                  .mpi = "MPICH 4.0.2",
                  .ranks = {{.host = "a",
                             .cpu = std::string("EPYC"),
                             .isa_used = std::string("avx2"),
                             .governor = std::string("performance"),
                             .processors = {0},
                             .gpus = {"0000:0e:00.0"},
                             .computing = 0.1,
                             .exposed_communication = 0.01,
                             .steps = 3,
                             .staleness = Staleness{1, 2, 3},
                             .env = {{"KMP_BLOCKTIME", "0"}}}},
                  .link = Link{1e-5, 1e-6, 1e9, 0.1},
                  .predicted = {{8, 100.0, 0.9}}};
  record.checkpoints = {.continued_after = 8, .written = 2, .seconds = 0.5};
  record.evaluations = {{10, 128, 0.5, 0.75, {{"AP", 0.2}}, 20.5, 1.5}};
  record.roof = {1e12, 9e11, 1e10, 1e9, 0.1, 0.5};
  record.kernels = {{"conv2d", "conv1", "brgconv", 0.001, 1e9, 1e8, 1e6}};
  record.cost = Cost{"EUR", 25e3, 1.5, 450.0, 4.5, 0.5, 0.25, 1.25};
  record.metrics = {{.name = "peak_rss", .value = 1, .unit = "bytes"}};
  record.series = {{nanoseconds(5)}, {nanoseconds(4)}, {0.5}, {0.25}, {0.75}};
  record.implementations = {{"conv2d", "brgconv", "NHWC", 53}};
  record.choices = {"timed",
                    {{"model", "lenet"}},
                    {{"conv1", {"brg", {"nhwc"}, {"nhwc"}}}},
                    {{"images", "nhwc"}},
                    "host"};
  record.verification.numbers = {{"loss", 1, 1, 0, 0.1}};
  record.quantization = {31.5, 30.5, 32, 30, 7, 28, 27, true, true};
  record.quality = {{"busy"}, Verdict::kValid, {"heat"}, {"processes"}, 60.0, {"40 for heat"}};
  return record;
}

/// A record in which everything that can be null is null.
Record unknown_record() {
  Record record;
  record.checkpoints = Checkpoints{};
  record.workload.num_epochs = kNaN;
  record.flags.given = {{"a", std::monostate()}};
  record.batch_choice.tried = {{.images_per_sec = kNaN, .spread = kNaN}};
  record.dataset.storage = Storage{};
  record.build.libs = {{}};
  record.memory.dimms = std::vector<Dimm>{{}};
  record.load.busy = std::vector<BusyProcess>{{"cc1plus", kNaN}};
  record.energy.domains = {{"package-0", kNaN}};
  record.gpus.resize(3);
  record.gpus[1].watched = GpuWatched{};
  record.gpus[2].watched = GpuWatched{.others = std::vector<GpuProcess>{{}}};
  record.towers.resize(1);
  record.scaling = {.reference_images_per_sec = kNaN, .efficiency = kNaN};
  record.world = {.ranks = {{.host = "a"}}};
  record.input = Input{};
  record.cost = Cost{};
  record.metrics = {{.name = "peak_rss", .unit = "bytes"}};
  record.verification.numbers = {
      {.measured = kNaN, .stored = kNaN, .deviation = kNaN, .tolerance = kNaN}};
  record.quantization = Quantization{};
  return record;
}

/// Compares records with the schema, and notes which of its paths they used.
class Checker {
 public:
  void check(const Record& record) { check(schema_, json::parse(record_json(record)), ""); }

  std::set<std::string> mistakes;
  std::set<std::string> values;  ///< Paths that had a value.
  std::set<std::string> nulls;   ///< Paths that were null.

 private:
  /// True if `type` is a name of the value's type. Only metrics have either kind of number.
  static bool is(const json& value, const std::string& type, const std::string& path) {
    if (type == "integer") {
      return value.is_number_integer();
    }
    if (type == "number") {
      return path == "metrics[].value" || path.starts_with("flags.") ? value.is_number()
                                                                     : value.is_number_float();
    }
    return type == value.type_name();
  }

  void check(const json& schema, const json& value, const std::string& path) {
    (value.is_null() ? nulls : values).insert(path);
    const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
    if (std::none_of(types.begin(), types.end(),
                     [&](const json& type) { return is(value, type.get<std::string>(), path); })) {
      mistakes.insert(path + " is not " + types.dump() + ": " + value.dump());
    }
    if (schema.contains("enum")) {
      EXPECT_THAT(schema["enum"], ::testing::Contains(value)) << path;
    }
    if (value.is_array()) {
      for (const json& item : value) check(schema["items"], item, path + "[]");
    }
    if (!value.is_object()) return;
    for (const json& name : schema.value("required", json::array())) {
      if (!value.contains(name)) mistakes.insert(path + " lacks " + name.dump());
    }
    for (const auto& [name, member] : value.items()) {
      const std::string dot = path.empty() ? "" : ".";
      if (schema.contains("additionalProperties")) {
        check(schema["additionalProperties"], member, path + dot + "*");
      } else if (schema["properties"].contains(name)) {
        check(schema["properties"][name], member, path + dot + name);
      } else {
        mistakes.insert(path + dot + name + " is not in the table");
      }
    }
  }

  const json schema_ = json::parse(record_schema());
};

std::string contents_of(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(RESULTS_FOLDER "/" + name).rdbuf();
  return text.str();
}

TEST(RecordSchema, IsTheFileInTheRepository) {
  EXPECT_TRUE(contents_of("record.schema.json") == record_schema())
      << "write it again: bench_results schema > results/record.schema.json";
}

TEST(RecordPage, IsTheFileInTheRepository) {
  EXPECT_TRUE(contents_of("RECORD.md") == record_page())
      << "write it again: bench_results schema --format=md > results/RECORD.md";
}

TEST(RecordSchema, DescribesEveryFieldOfARecord) {
  Checker checker;
  checker.check(full_record());
  checker.check(Record());
  checker.check(unknown_record());
  EXPECT_THAT(checker.mistakes, ::testing::IsEmpty());
}

TEST(RecordSchema, HasOnlyFieldsThatARecordHas) {
  Checker full;
  full.check(full_record());
  Checker unknown;
  unknown.check(Record());
  unknown.check(unknown_record());
  for (const RecordField& field : record_fields()) {
    const std::string path(field.path);
    EXPECT_TRUE(full.values.contains(path)) << path << " is in no record";
    EXPECT_FALSE(full.nulls.contains(path)) << path << " is null in full_record()";
    EXPECT_EQ(unknown.nulls.contains(path), field.type.ends_with(" or null")) << path;
    EXPECT_LE(field.meaning.size(), 150) << path;
  }
}

}  // namespace
}  // namespace bench::results
