#include "models/base/makeable_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

TEST(MakeableFolder, ExistsOrCanBeCreated) {
  const ScratchFolder folder;
  EXPECT_THAT(why_no_folder(folder.path()), Eq(std::nullopt));
  EXPECT_THAT(why_no_folder(folder.path() / "a/b/"), Eq(std::nullopt));
  EXPECT_THAT(why_no_folder(""), Eq(std::nullopt));
  EXPECT_FALSE(fs::exists(folder.path() / "a"));
}

TEST(MakeableFolder, IsNotInsideAFileOrADanglingLink) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  fs::create_symlink("absent", folder.path() / "link");
  EXPECT_THAT(why_no_folder(folder.path() / "file"), Optional(HasSubstr("Not a directory")));
  EXPECT_THAT(why_no_folder(folder.path() / "file/a"), Optional(HasSubstr("Not a directory")));
  EXPECT_THAT(why_no_folder(folder.path() / "link"),
              Optional(HasSubstr("is a symbolic link to a missing file")));
  EXPECT_THAT(why_no_folder(std::string(300, 'x')), Optional(HasSubstr("too long")));
}

TEST(MakeableFolder, IsNotInAReadOnlyFolder) {
  EXPECT_THAT(why_no_folder("/proc/self/a"), Optional(HasSubstr("/proc/self")));
}

}  // namespace
}  // namespace bench
