#include "bench/report/record_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"
#include "results/store/store.h"

namespace bench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RecordFile, WritesLogsAndStoreOnceWhenTheRunEnds) {
  const ScratchFolder folder;
  const std::filesystem::path logs = folder.path() / "deep" / "logs";
  std::ostringstream out;
  results::Record record;
  record.workload.model = "lenet";
  record.workload.global_batch = 4;
  record.flags.output["benchmark_test_id"] = std::string("day 7");
  record.series.step_ns = {std::chrono::milliseconds(500)};
  RunSettings settings;
  settings.outputs.files.result = (folder.path() / "r.json").string();
  settings.outputs.files.benchmark_logs = logs.string();
  settings.outputs.record.store = folder.path() / "store.sqlite";
  RecordFile file(settings.outputs, record, out);
  file.write_for_now(results::Status::kOk, false, "");
  EXPECT_FALSE(std::filesystem::exists(logs));
  EXPECT_FALSE(std::filesystem::exists(*settings.outputs.record.store));
  file.write(results::Status::kOk, false, "");
  EXPECT_EQ(results::Store(*settings.outputs.record.store, results::Store::Access::kRead).size(),
            1);
  EXPECT_THAT(text_of(logs / "benchmark_run.log"), HasSubstr("\"test_id\": \"day 7\""));
  EXPECT_THAT(text_of(logs / "metric.log"),
              HasSubstr("\"name\": \"current_examples_per_sec\", \"value\": 8.0, \"unit\": null"));
}

TEST(RecordFile, WritesTheRestWhereOnePlaceCannotBeWritten) {
  const ScratchFolder folder;
  std::ostringstream out;
  results::Record record;
  record.workload.model = "lenet";
  RunSettings settings;
  settings.outputs.files.result = (folder.path() / "sub" / "r.json").string();
  settings.outputs.record.store = folder.path() / "store.sqlite";
  std::filesystem::create_directory(folder.path() / "sub");
  RecordFile file(settings.outputs, record, out);
  std::filesystem::remove(folder.path() / "sub");
  EXPECT_THROW(file.write(results::Status::kOk, false, ""), WriteError);
  EXPECT_EQ(results::Store(*settings.outputs.record.store, results::Store::Access::kRead).size(),
            1);
}

TEST(RecordFile, KeepsARecordThatTheStoreDoesNotTake) {
  const ScratchFolder folder;
  std::ostringstream out;
  results::Record record;
  record.workload.model = "lenet";
  RunSettings settings;
  settings.outputs.record.store = folder.path() / "sub" / "store.sqlite";
  settings.outputs.record.report_to = (folder.path() / "for the program that repeats it").string();
  RecordFile file(settings.outputs, record, out);
  std::ofstream(folder.path() / "sub") << "no folder";
  std::string said;
  try {
    file.write(results::Status::kOk, false, "");
  } catch (const WriteError& error) {
    said = error.what();
  }
  const std::string leads = "; the record is in ";
  ASSERT_THAT(said, HasSubstr(leads));
  const std::filesystem::path kept = said.substr(said.find(leads) + leads.size());
  EXPECT_THAT(text_of(kept), HasSubstr("lenet"));
  std::filesystem::remove(kept);
}

TEST(RecordFile, RefusesALogFolderThatIsAFileBeforeTheRun) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "file").string();
  std::ofstream(path) << "x";
  std::ostringstream out;
  RunSettings settings;
  settings.outputs.files.benchmark_logs = path;
  EXPECT_THAT(([&] { RecordFile(settings.outputs, {}, out); }),
              ThrowsMessage<UsageError>(HasSubstr("--benchmark_log_dir=" + path)));
}

}  // namespace
}  // namespace bench
