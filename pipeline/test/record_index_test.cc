#include "pipeline/formats/record_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/formats/tfrecord_writer.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using testing::HasSubstr;

TEST(RecordIndex, SaysWhereTheRecordsAre) {
  const test::TemporaryFolder folder;
  const std::string shard = folder.file("train-00000-of-00001");
  test::write_file(shard,
                   frame_tfrecord("four") + frame_tfrecord("") + frame_tfrecord("thirteen byt"));
  // DALI's tfrecord2idx writes the same.
  const std::string index = "0 20\n20 16\n36 28\n";
  EXPECT_EQ(record_index_text(find_records(shard)), index);
  test::write_file(record_index_path(folder.path(), shard), index);
  EXPECT_EQ(record_index_text(read_record_index(folder.path(), shard)), index);
  EXPECT_EQ(record_index_text(parse_record_index("0 20\n20 16\n36 28", 64)), index);
}

TEST(RecordIndex, IsRefusedUnlessItCoversTheFile) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"0 20\n20 16\n", "its records end at 36, but the shard has 64 bytes"},
      {"0 20\n20 16\n36 29\n",
       "line 3: the record has 29 bytes, but the smallest possible has 16, and 28 are left"},
      {"0 20\n21 16\n", "line 2: the record begins at 21, but the previous one ends at 20"},
      {"0 20\n20 15\n", "line 2: the record has 15 bytes"},
      {"0 18446744073709551615\n", "line 1: the record has 18446744073709551615 bytes"},
      {"0 20\n\n", "line 2: an offset and a size in bytes are required"},
      {"0 20 20 16\n", "line 1: an offset and a size"},
      {"0 -20\n", "line 1: an offset and a size"},
      {"0 20\r\n", "line 1: an offset and a size"}};
  for (const auto& [index, message] : cases) {
    EXPECT_THAT(test::message_of<DataError>([&, &text = index] { parse_record_index(text, 64); }),
                HasSubstr(message));
  }
}

TEST(RecordIndex, NamesTheFileThatIsMissingOrDoesNotFit) {
  const test::TemporaryFolder folder;
  const std::string shard = folder.file("train-00000-of-00001");
  test::write_file(shard, frame_tfrecord("four"));
  const auto read = [&] { read_record_index(folder.path(), shard); };
  EXPECT_THAT(test::message_of<UsageError>(read), HasSubstr("has no index of " + shard));
  std::filesystem::resize_file((test::write_file(record_index_path(folder.path(), shard), ""),
                                record_index_path(folder.path(), shard)),
                               std::uintmax_t{1} << 40U);
  EXPECT_THAT(test::message_of<DataError>(read), HasSubstr("it has 1099511627776 bytes, but an"));
  test::write_file(record_index_path(folder.path(), shard), "0 16\n");
  EXPECT_THAT(test::message_of<DataError>(read),
              HasSubstr("00001.idx: this is not the index of " + shard +
                        ": its records end at 16, but the shard has 20 bytes; make it with "
                        "make_tfrecords --from_tfrecords="));
}

}  // namespace
}  // namespace bench
