#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "results/formats/format.h"
#include "results/formats/test/example_run.h"

namespace bench::results {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The example run with another value at a path of its record.
StoredRun example_with(const char* path, const nlohmann::json& value) {
  nlohmann::json record = example_run().record;
  record[nlohmann::json::json_pointer(path)] = value;
  record["record_id"] = content_id(record);
  return run_of(record);
}

TEST(WriteRuns, FailedRunsAreOmittedWhereReadersWouldTrustThem) {
  const std::vector<StoredRun> runs{example_with("/status", "failed"), example_run()};
  for (const char* name : {"github", "phoronix", "lnt", "google-benchmark"}) {
    const Format& format = format_to_write(name);
    const Written both = write_runs(format, runs);
    EXPECT_EQ(both.omitted, 1U) << name;
    EXPECT_EQ(both.outputs[0].contents, write_runs(format, {runs[1]}).outputs[0].contents) << name;
    EXPECT_THAT([&] { write_runs(format, {runs[0]}); },
                ThrowsMessage<UsageError>(HasSubstr("cannot hold runs that failed")));
  }
  EXPECT_EQ(write_runs(format_to_write("csv"), runs).omitted, 0U);
}

TEST(WriteRuns, WorkloadsWithEqualTextsGetDistinctNames) {
  const std::vector<StoredRun> runs{example_run(), example_with("/workload/optimizer", "lars")};
  ASSERT_EQ(runs[0].workload, runs[1].workload);
  for (const char* name : {"github", "phoronix", "lnt", "google-benchmark"}) {
    EXPECT_THAT(write_runs(format_to_write(name), runs).outputs[0].contents, HasSubstr("lars"))
        << name;
  }
}

TEST(WriteRuns, MachinesWithEqualNamesAreKeptApart) {
  std::vector<StoredRun> runs{example_run(), example_run()};
  runs[1].machine_key = "0123456789";
  EXPECT_THAT(write_runs(format_to_write("github"), runs).outputs[0].contents,
              HasSubstr(runs[0].machine + " (machine 01234567)"));
}

TEST(WriteRuns, LntOmitsAMetricThatARunLacks) {
  nlohmann::json record = example_run().record;
  std::erase_if(record["metrics"].get_ref<nlohmann::json::array_t&>(),
                [](const nlohmann::json& metric) { return metric["name"] == "peak_rss"; });
  record["record_id"] = content_id(record);
  const auto root = nlohmann::json::parse(
      write_runs(format_to_write("lnt"), {run_of(record), example_run()}).outputs[0].contents);
  EXPECT_FALSE(root["tests"][0].contains("mem_bytes"));
  EXPECT_EQ(root["tests"][0]["score"].size(), 2U);
}

}  // namespace
}  // namespace bench::results
