// Tests the script that reads the revision from git, in temporary checkouts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"

namespace bench::results {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

bool run(const std::string& command) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): tests run one at a time.
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

class SourceVersion : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!run("git --version")) GTEST_SKIP() << "git is not installed";
    fs::create_directory(source());
  }
  fs::path source() const { return folder_.path() / "source"; }
  fs::path header() const { return folder_.path() / "version.h"; }

  bool git(const std::string& arguments) const {
    return run(fmt::format("git -C \"{}\" -c user.name=n -c user.email=e@example.org {}",
                           source().string(), arguments));
  }
  void commit() const {
    std::ofstream(source() / "file") << "one\n";
    ASSERT_TRUE(git("init"));
    ASSERT_TRUE(git("add file"));
    ASSERT_TRUE(git("commit --no-gpg-sign -m first"));
  }
  std::string written(const fs::path& folder) const {
    // git must not find a checkout that contains the folder for temporary files.
    const std::string command = fmt::format(
        "GIT_CEILING_DIRECTORIES=\"{}\" \"{}\" -DSOURCE_DIR=\"{}\" -DOUTPUT=\"{}\" -P \"{}\"",
        folder_.path().string(), CMAKE_PROGRAM, folder.string(), header().string(),
        SOURCE_VERSION_SCRIPT);
    EXPECT_TRUE(run(command)) << command;
    std::ifstream file(header());
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  ScratchFolder folder_;
};

TEST_F(SourceVersion, HoldsTheRevisionOfACleanCheckout) {
  commit();
  std::ofstream(source() / "untracked") << "x";
  const std::string text = written(source());
  EXPECT_THAT(text, ContainsRegex("kGitRevision = R\"text\\([0-9a-f]{40}"));
  EXPECT_THAT(text, ContainsRegex("kGitCommitTime = R\"text\\([0-9]{4}-"));
  EXPECT_THAT(text, HasSubstr("kGitDirty = false;"));
}

TEST_F(SourceVersion, SeesAChangeInATrackedFile) {
  commit();
  std::ofstream(source() / "file") << "two\n";
  EXPECT_THAT(written(source()), HasSubstr("kGitDirty = true;"));
}

TEST_F(SourceVersion, LeavesAHeaderThatWouldNotChangeAlone) {
  commit();
  const std::string first = written(source());
  const auto old = fs::last_write_time(header()) - std::chrono::hours(1);
  fs::last_write_time(header(), old);
  EXPECT_EQ(written(source()), first);
  EXPECT_EQ(fs::last_write_time(header()), old);
}

TEST_F(SourceVersion, ExplainsAMissingRevision) {
  EXPECT_THAT(written(source()), HasSubstr("git reported no revision of the source"));
  commit();
  fs::create_directory(source() / "unpacked");
  EXPECT_THAT(written(source() / "unpacked"), HasSubstr("was not a separate git checkout"));
}

}  // namespace
}  // namespace bench::results
