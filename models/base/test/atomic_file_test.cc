#include "models/base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(AtomicFile, LeavesNothingBehindWhenItOnlyChecks) {
  const ScratchFolder folder;
  const AtomicFile file(folder.path() / "r.json");
  EXPECT_EQ(files_in(folder.path()), 0);
}

TEST(AtomicFile, ReplacesWhatWasThere) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "r.json";
  const AtomicFile file(path);
  file.write("first");
  EXPECT_EQ(contents(path), "first");
  file.write("second");
  EXPECT_EQ(contents(path), "second");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(AtomicFile, JoinsTheParts) {
  const ScratchFolder folder;
  const std::array<std::string_view, 3> parts = {"one ", "", "two"};
  AtomicFile(folder.path() / "parts").write(parts);
  EXPECT_EQ(contents(folder.path() / "parts"), "one two");
}

TEST(AtomicFile, GoesByTheNameItIsGiven) {
  EXPECT_THAT([] { AtomicFile file("/absent/x", "file of --save"); },
              ThrowsMessage<UsageError>(HasSubstr("cannot write the file of --save '/absent/x'")));
}

TEST(AtomicFile, IsNotStoppedByWhatAKilledRunLeft) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / cat(".r.json.", getpid(), ".tmp")) << "half";
  AtomicFile(folder.path() / "r.json").write("whole");
  EXPECT_EQ(contents(folder.path() / "r.json"), "whole");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(AtomicFile, FollowsALinkToTheFileItStandsFor) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "real.json") << "old";
  fs::create_symlink("real.json", folder.path() / "link.json");
  AtomicFile(folder.path() / "link.json").write("new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link.json"));
  EXPECT_EQ(contents(folder.path() / "real.json"), "new");
}

TEST(AtomicFile, TakesABareNameForAFileInTheCurrentFolder) {
  const ScratchFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  AtomicFile("bare.json").write("here");
  fs::current_path(before);
  EXPECT_EQ(contents(folder.path() / "bare.json"), "here");
}

TEST(AtomicFile, RefusesWhatCannotBeWrittenAndNamesIt) {
  const ScratchFolder folder;
  const auto refusal = [](const fs::path& path, const std::string& words) {
    EXPECT_THAT([&] { AtomicFile file(path); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr(path.string()), HasSubstr(words))));
  };
  refusal(folder.path() / "absent" / "r.json", "there is no folder");
  refusal(folder.path(), "it is a folder");
  refusal(folder.path() / "", "it names no file");
  refusal("", "it names no file");
  refusal("/dev/null", "no ordinary file");
  refusal("/proc/r.json", "no file can be made");
}

TEST(AtomicFile, ReportsAFolderThatVanishedAsAFailedWrite) {
  const ScratchFolder folder;
  fs::create_directory(folder.path() / "sub");
  const AtomicFile file(folder.path() / "sub" / "r.json");
  fs::remove(folder.path() / "sub");
  EXPECT_THAT([&] { file.write("x"); }, ThrowsMessage<WriteError>(HasSubstr("open")));
}

/// Files of this process cannot grow beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    check(getrlimit(RLIMIT_FSIZE, &old_) == 0, "getrlimit failed");
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    check(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit failed");
  }
  ~FileSizeLimit() {
    (void)setrlimit(RLIMIT_FSIZE, &old_);
    (void)std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

TEST(AtomicFile, KeepsTheOldContentsWhenAWriteFailsHalfway) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "r.json";
  const AtomicFile file(path);
  file.write("old");
  {
    const FileSizeLimit limit(1000);
    EXPECT_THAT([&] { file.write(std::string(5000, 'x')); },
                ThrowsMessage<WriteError>(AllOf(HasSubstr(path.string()), HasSubstr("write"))));
  }
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(files_in(folder.path()), 1);
}

}  // namespace
}  // namespace bench
