#include "pipeline/stages/shard_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "models/base/errors.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

TEST(ShardList, ListsExistingFilesInOrderOfName) {
  const test::TemporaryFolder folder;
  for (const char* name : {"train-00007-of-01024", "train-00001-of-01024", "labels.txt",
                           "validation-00000-of-00128", ".train-00002-of-01024.77"}) {
    test::write_file(folder.file(name), "");
  }
  EXPECT_EQ(list_shards(folder.path(), "train"),
            (std::vector<std::string>{folder.file("train-00001-of-01024"),
                                      folder.file("train-00007-of-01024")}));
}

TEST(ShardList, RefusesSpecialFilesBeforeOpeningThem) {
  const auto refusal = [](const test::TemporaryFolder& folder) {
    return test::message_of<UsageError>([&] { list_shards(folder.path(), "train"); });
  };
  const test::TemporaryFolder pipe;
  ASSERT_EQ(mkfifo(pipe.file("train-00000-of-00001").c_str(), 0600), 0);
  EXPECT_THAT(refusal(pipe),
              HasSubstr("train-00000-of-00001: cannot read the file: it is not a regular"));
  const test::TemporaryFolder sub;
  std::filesystem::create_directory(sub.file("train-00000-of-00001"));
  EXPECT_THAT(refusal(sub), HasSubstr("it is not a regular file"));
  const test::TemporaryFolder link;
  std::filesystem::create_symlink("/dev/zero", link.file("train-00000-of-00001"));
  EXPECT_THAT(refusal(link), HasSubstr("it is not a regular file"));
}

TEST(ShardList, AddsUpTheSizesOfTheFilesThatCanBeSeen) {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("a"), "12345");
  test::write_file(folder.file("b"), "678");
  EXPECT_EQ(total_bytes({folder.file("a"), folder.file("absent"), folder.file("b")}), 8U);
  EXPECT_EQ(total_bytes({}), 0U);
}

TEST(ShardList, IsEmptyIfNoFileMatches) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(list_shards(folder.path(), "train").empty());
  const std::string missing =
      test::message_of<UsageError>([&] { list_shards(folder.file("absent"), "validation"); });
  EXPECT_THAT(missing, HasSubstr("absent"));
  EXPECT_THAT(missing, HasSubstr("the folder does not exist; give a folder with files "
                                 "validation-*-of-*"));
}

TEST(ShardList, RefusesAFileInsteadOfAFolder) {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("train-00000-of-00001"), "");
  const std::string file = folder.file("train-00000-of-00001");
  EXPECT_THAT(test::message_of<UsageError>([&] { list_shards(file, "train"); }),
              HasSubstr("00001: this is a file; give a folder with files train-"));
  EXPECT_THAT(test::message_of<UsageError>([&] { list_shards(file + "/below", "train"); }),
              HasSubstr("below: the folder does not exist"));
}

TEST(ShardList, ExplainsWhyAFolderCannotBeRead) {
  // The name is too long, so the system's error is not "no such file".
  const test::TemporaryFolder folder;
  const std::string name = folder.file(std::string(300, 'x'));
  EXPECT_THAT(test::message_of<UsageError>([&] { list_shards(name, "train"); }),
              HasSubstr(": cannot access the folder: File name too long; give a folder with "));
}

}  // namespace
}  // namespace bench
