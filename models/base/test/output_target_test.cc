#include "models/base/output_target.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string identity(const fs::path& path) { return find_output(path, "file").identity(); }

TEST(OutputTarget, IsTheSameForEverySpelling) {
  const ScratchFolder folder;
  fs::create_directory(folder.path() / "sub");
  fs::create_directory_symlink("sub", folder.path() / "way");
  fs::create_symlink("sub/new", folder.path() / "link");
  const std::string absent = identity(folder.path() / "sub" / "new");
  EXPECT_EQ(identity(folder.path() / "." / "sub" / ".." / "sub" / "new"), absent);
  EXPECT_EQ(identity(folder.path() / "way" / "new"), absent);
  EXPECT_EQ(identity(folder.path() / "link"), absent);
  EXPECT_NE(identity(folder.path() / "sub" / "other"), absent);
  EXPECT_NE(identity(folder.path() / "new"), absent);

  std::ofstream(folder.path() / "sub" / "new") << "there";
  fs::create_hard_link(folder.path() / "sub" / "new", folder.path() / "hard");
  EXPECT_EQ(identity(folder.path() / "hard"), identity(folder.path() / "link"));
  EXPECT_EQ(file_identity(folder.path() / "link"), identity(folder.path() / "hard"));
}

TEST(OutputTarget, IdentifiesADescriptorByItsFile) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "log";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  const OutputTarget target = find_output(fmt::format("/dev/fd/{}", fd), "file");
  EXPECT_EQ(target.kind, OutputTarget::Kind::descriptor);
  EXPECT_EQ(target.descriptor, fd);
  EXPECT_EQ(target.identity(), identity(path));
  EXPECT_EQ(regular_file_identity(fd), identity(path));
  close(fd);
  EXPECT_THAT([&] { find_output(fmt::format("/dev/fd/{}", fd), "file"); },
              ThrowsMessage<UsageError>(HasSubstr("is not open for writing")));
}

TEST(OutputTarget, KnowsStandardOutputByEachOfItsNames) {
  for (const char* const name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const OutputTarget target = find_output(name, "file");
    EXPECT_EQ(target.kind, OutputTarget::Kind::descriptor) << name;
    EXPECT_EQ(target.descriptor, STDOUT_FILENO) << name;
  }
}

TEST(OutputTarget, LetsADeviceBeNamedTwice) { EXPECT_EQ(identity("/dev/null"), ""); }

}  // namespace
}  // namespace bench
