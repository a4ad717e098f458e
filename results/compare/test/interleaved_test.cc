#include "results/compare/interleaved.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "results/store/test/made_record.h"

namespace bench::results {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A temporary folder with a program `bench` that copies a record.
class Interleaved : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              fmt::format("interleaved-{}-{}", ::testing::UnitTest::GetInstance()->random_seed(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "record.json") << sealed(json_of(made_record())).dump();
    std::ofstream(folder_ / "bench")
        << "#!/bin/sh\n"
           "for word; do case $word in --result_file=*) file=${word#*=};; "
           "esac; done\n"
           "echo \"$1\" >> \"${0%/*}/order\"\n"
           "cp \"${0%/*}/record.json\" \"$file\"\n";
    std::filesystem::permissions(folder_ / "bench", std::filesystem::perms::owner_all);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] InterleavedPlan plan(std::size_t pairs) const {
    const std::string program = (folder_ / "bench").string();
    return {.base = program + " a",
            .other = program + " b",
            .pairs = pairs,
            .folder = folder_ / "runs it's"};
  }

  [[nodiscard]] std::vector<std::string> order() const {
    std::ifstream file(folder_ / "order");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::filesystem::path folder_;
};

void ignore(const InterleavedRuns& /*runs*/, const StoredRun& /*run*/, bool /*is_other*/) {}

TEST_F(Interleaved, AlternatesTheOrderOfPairs) {
  const InterleavedRuns runs = run_interleaved(plan(3), ignore);
  EXPECT_THAT(order(), ElementsAre("a", "b", "b", "a", "a", "b"));
  EXPECT_EQ(runs.base.size(), 3);
  EXPECT_EQ(runs.other.size(), 3);
  EXPECT_EQ(runs.interrupted_by, 0);
}

TEST_F(Interleaved, AnInterruptLeavesWholePairs) {
  const InterleavedRuns runs = run_interleaved(
      plan(8), [](const InterleavedRuns& so_far, const StoredRun& /*run*/, bool /*is_other*/) {
        if (so_far.base.size() + so_far.other.size() == 5) (void)std::raise(SIGINT);
      });
  EXPECT_EQ(runs.interrupted_by, SIGINT);
  EXPECT_EQ(runs.base.size(), 2);
  EXPECT_EQ(runs.other.size(), 2);
  EXPECT_EQ(order().size(), 5);
}

TEST_F(Interleaved, ACommandGetsTheSignalOnce) {
  // Signals its parent, and records its process group and the signals that it receives.
  const auto got = [&](const char* signal) {
    std::ofstream(folder_ / "signals")
        << "#!/bin/sh\n"
           "cd \"${0%/*}\"\n"
           "for one in INT TERM HUP QUIT; do trap \"echo $one >> got\" $one; done\n"
           "set -- \"$1\" \"$2\" $(cat /proc/$$/stat)\n"
           "[ \"$7\" != \"$(cut -d' ' -f5 /proc/$2/stat)\" ] && echo own > got\n"
           "kill -\"$1\" \"$2\"\n"
           "for look in 1 2 3 4 5 6 7 8 9 10; do\n"
           "  [ $(wc -l < got) -gt 1 ] && [ $look -gt 3 ] && break\n"
           "  sleep 0.1\n"
           "done\n";
    std::filesystem::permissions(folder_ / "signals", std::filesystem::perms::owner_all);
    InterleavedPlan signalling = plan(2);
    signalling.signal_again = std::chrono::hours(1);
    signalling.base = fmt::format("{} {} {}", (folder_ / "signals").string(), signal, ::getpid());
    EXPECT_NE(run_interleaved(signalling, ignore).interrupted_by, 0);
    std::ifstream file(folder_ / "got");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(got("INT"), "own\nINT\n");
  EXPECT_EQ(got("TERM"), "own\nTERM\n");
  EXPECT_EQ(got("HUP"), "own\nHUP\n");
  EXPECT_EQ(got("QUIT"), "own\nQUIT\n");
}

TEST_F(Interleaved, ACommandThatLosesTheSignalGetsItAgain) {
  std::ofstream(folder_ / "loses") << "#!/bin/sh\n"
                                      "trap 'times=x$times; [ $times != xx ] || exit' TERM\n"
                                      "kill -TERM $1\n"
                                      "while :; do sleep 0.05; done\n";
  std::filesystem::permissions(folder_ / "loses", std::filesystem::perms::owner_all);
  InterleavedPlan losing = plan(1);
  losing.base = fmt::format("{} {}", (folder_ / "loses").string(), ::getpid());
  losing.signal_again = std::chrono::seconds(1);
  EXPECT_EQ(run_interleaved(losing, ignore).interrupted_by, SIGTERM);
}

TEST_F(Interleaved, ASecondSignalKillsACommandThatIgnoresThem) {
  std::ofstream(folder_ / "ignores") << "#!/bin/sh\n"
                                        "trap '' INT\n"
                                        "while kill -INT $1; do sleep 0.3; done\n";
  std::filesystem::permissions(folder_ / "ignores", std::filesystem::perms::owner_all);
  InterleavedPlan ignoring = plan(1);
  ignoring.base = fmt::format("{} {}", (folder_ / "ignores").string(), ::getpid());
  EXPECT_EQ(run_interleaved(ignoring, ignore).interrupted_by, SIGINT);
}

TEST_F(Interleaved, ACommandReadsNothing) {
  InterleavedPlan reading = plan(1);
  reading.base = fmt::format("cat >'{}'; {}", (folder_ / "read").string(), reading.base);
  std::array<int, 2> typed{};
  ASSERT_EQ(::pipe(typed.data()), 0);
  ASSERT_EQ(::write(typed[1], "x", 1), 1);
  ::close(typed[1]);
  const int before = ::dup(STDIN_FILENO);
  ::dup2(typed[0], STDIN_FILENO);
  EXPECT_EQ(run_interleaved(reading, ignore).base.size(), 1);
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ::close(typed[0]);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "read"), 0);
}

TEST_F(Interleaved, NamesTheSignalThatEndedTheRuns) {
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT}) {
    const InterleavedRuns runs =
        run_interleaved(plan(8), [&](const InterleavedRuns& /*so_far*/, const StoredRun& /*run*/,
                                     bool /*is_other*/) { (void)std::raise(signal); });
    EXPECT_EQ(runs.interrupted_by, signal);
  }
}

TEST_F(Interleaved, LeavesAHangUpIgnoredAsUnderNohup) {
  struct sigaction before {};
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ASSERT_EQ(sigaction(SIGHUP, &ignored, &before), 0);
  const InterleavedRuns runs =
      run_interleaved(plan(1), [](const InterleavedRuns& /*so_far*/, const StoredRun& /*run*/,
                                  bool /*is_other*/) { (void)std::raise(SIGHUP); });
  (void)sigaction(SIGHUP, &before, nullptr);
  EXPECT_EQ(runs.interrupted_by, 0);
  EXPECT_EQ(runs.other.size(), 1);
}

TEST_F(Interleaved, ACommandThatFailsIsNamedWithItsLog) {
  InterleavedPlan failing = plan(3);
  failing.other = "exit 7 #";
  try {
    run_interleaved(failing, ignore);
    FAIL() << "went on";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'exit 7 #' ended with status 7"));
    EXPECT_THAT(error.what(), HasSubstr("new-01.log"));
  }
  failing.other = "true";
  EXPECT_THROW(run_interleaved(failing, ignore), DataError) << "wrote no record";
}

TEST_F(Interleaved, AnEarlierRecordIsNotReused) {
  EXPECT_EQ(run_interleaved(plan(2), ignore).other.size(), 2);
  InterleavedPlan silent = plan(2);
  silent.other = "true";
  EXPECT_THROW(run_interleaved(silent, ignore), DataError);
}

}  // namespace
}  // namespace bench::results
