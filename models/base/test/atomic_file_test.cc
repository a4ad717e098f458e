#include "models/base/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(AtomicFile, LeavesNoFileAfterACheck) {
  const ScratchFolder folder;
  const AtomicFile file(folder.path() / "r.json");
  EXPECT_EQ(files_in(folder.path()), 0);
}

TEST(AtomicFile, ReplacesAnExistingFile) {
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

TEST(AtomicFile, UsesItsGivenNameInErrors) {
  EXPECT_THAT([] { AtomicFile file("/absent/x", "file of --save"); },
              ThrowsMessage<UsageError>(HasSubstr("cannot write the file of --save '/absent/x'")));
}

/// Creates a file whose last write was `age` ago.
void make_old(const fs::path& path, std::string_view text, std::chrono::minutes age) {
  std::ofstream(path) << text;
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

TEST(AtomicFile, RemovesTemporaryFilesOfKilledRuns) {
  const ScratchFolder folder;
  make_old(folder.path() / fmt::format(".r.json.{}.tmp", getpid()), "half", 61min);
  make_old(folder.path() / ".r.json.1-2.tmp", "half", 61min);
  make_old(folder.path() / ".other.json.1.tmp", "not for us", 61min);
  make_old(folder.path() / ".r.json.mine.tmp", "not ours", 61min);
  const AtomicFile file(folder.path() / "r.json");
  EXPECT_EQ(files_in(folder.path()), 2);
  file.write("whole");
  EXPECT_EQ(contents(folder.path() / "r.json"), "whole");
  EXPECT_EQ(files_in(folder.path()), 3);
}

TEST(AtomicFile, KeepsTemporaryFilesOfOtherMachines) {
  const ScratchFolder folder;
  const fs::path theirs = folder.path() / ".r.json.1.tmp";
  make_old(theirs, "half", 50min);
  AtomicFile(folder.path() / "r.json").write("ours");
  EXPECT_TRUE(fs::exists(theirs));
}

TEST(AtomicFile, KeepsTemporaryFilesOfOtherProcesses) {
  const ScratchFolder folder;
  const fs::path theirs = folder.path() / fmt::format(".r.json.{}.tmp", getpid());
  const int fd = open(theirs.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  fs::last_write_time(theirs, fs::file_time_type::clock::now() - 61min);
  AtomicFile(folder.path() / "r.json").write("ours");
  EXPECT_TRUE(fs::exists(theirs));
  EXPECT_EQ(contents(folder.path() / "r.json"), "ours");
  close(fd);
}

TEST(AtomicFile, KeepsTheModeOfTheFileItReplaces) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "r.json";
  const AtomicFile file(path);
  file.write("first");
  for (const mode_t mode : {0640U, 0600U, 0666U}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    file.write("again");
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, mode);
  }
}

TEST(AtomicFile, CreatesTheTargetOfADanglingLink) {
  const ScratchFolder folder;
  fs::create_directory(folder.path() / "sub");
  fs::create_symlink("sub/real.json", folder.path() / "link.json");
  AtomicFile(folder.path() / "link.json").write("new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link.json"));
  EXPECT_EQ(contents(folder.path() / "sub" / "real.json"), "new");
  EXPECT_EQ(files_in(folder.path() / "sub"), 1);
}

TEST(AtomicFile, WritesToDevicesAndLeavesThemThere) {
  const AtomicFile null("/dev/null");
  EXPECT_FALSE(null.replaces());
  null.write("gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (fs::exists("/dev/full")) {
    EXPECT_THAT([] { AtomicFile("/dev/full").write("x"); },
                ThrowsMessage<WriteError>(HasSubstr("'/dev/full': write: ")));
  }
}

TEST(AtomicFile, WritesToAPipeOnlyIfItHasAReader) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const AtomicFile file(path);
  EXPECT_THAT([&] { file.write("x"); },
              ThrowsMessage<WriteError>(HasSubstr("no process reads it")));
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  file.write("through");
  std::array<char, 16> text{};
  EXPECT_EQ(read(reader, text.data(), text.size()), 7);
  EXPECT_STREQ(text.data(), "through");
  EXPECT_TRUE(fs::is_fifo(path));
  close(reader);
}

TEST(AtomicFile, AppendsToAnOpenFile) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "log";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  ASSERT_EQ(write(fd, "line\n", 5), 5);
  for (const std::string& name :
       {fmt::format("/dev/fd/{}", fd), fmt::format("/proc/self/fd/{}", fd)}) {
    AtomicFile(name).write("record\n");
  }
  ASSERT_EQ(write(fd, "line\n", 5), 5);
  EXPECT_EQ(contents(path), "line\nrecord\nrecord\nline\n");
  close(fd);
}

TEST(AtomicFile, FollowsALinkToItsTarget) {
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

TEST(AtomicFile, NamesAPathThatCannotBeWritten) {
  const ScratchFolder folder;
  const auto refusal = [](const fs::path& path, const std::string& words) {
    EXPECT_THAT([&] { AtomicFile file(path); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr(path.string()), HasSubstr(words))));
  };
  refusal(folder.path() / "absent" / "r.json", "absent' does not exist");
  refusal(folder.path(), "it is a folder");
  refusal(folder.path() / "", "the path does not name a file");
  refusal("", "the path does not name a file");
  fs::create_symlink("circle", folder.path() / "circle");
  refusal(folder.path() / "circle", "its symbolic links form a loop");
  refusal("/proc/r.json", "cannot create a file in '/proc'");
}

TEST(AtomicFile, ReportsAFolderThatVanishedAsAFailedWrite) {
  const ScratchFolder folder;
  fs::create_directory(folder.path() / "sub");
  const AtomicFile file(folder.path() / "sub" / "r.json");
  fs::remove(folder.path() / "sub");
  EXPECT_THAT([&] { file.write("x"); }, ThrowsMessage<WriteError>(HasSubstr("open")));
}

/// Keeps files of this process from growing beyond `bytes`.
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
