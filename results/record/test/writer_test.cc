#include "results/record/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"
#include "results/record/record_json.h"

namespace bench::results {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Writers, EachWriteWhereTheyWereMadeFor) {
  const ScratchFolder folder;
  for (const WriterRow& row : writer_rows()) {
    const auto path = folder.path() / row.name;
    make_writer(row.name, path)->write(Record{});
    EXPECT_TRUE(std::filesystem::is_regular_file(path)) << row.name;
    EXPECT_TRUE(make_writer(row.name, path)->replaces()) << row.name;
    EXPECT_FALSE(make_writer(row.name, "/dev/null")->replaces()) << row.name;
  }
}

TEST(Writers, RefuseAPathBeforeTheRun) {
  const ScratchFolder folder;
  for (const WriterRow& row : writer_rows()) {
    EXPECT_THROW(make_writer(row.name, folder.path() / "absent" / "r"), UsageError) << row.name;
  }
}

TEST(Writers, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT([] { make_writer("yaml", "r"); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("'yaml'"), HasSubstr("json"))));
}

TEST(JsonWriter, WritesTheRecord) {
  const ScratchFolder folder;
  Record record;
  record.workload.model = "lenet";
  make_writer("json", folder.path() / "r.json")->write(record);
  std::ifstream file(folder.path() / "r.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, record_json(record));
}

}  // namespace
}  // namespace bench::results
