#include "results/track/rerun.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "models/base/errors.h"
#include "results/store/test/made_record.h"
#include "results/track/test/made_series.h"

namespace bench::results {
namespace {

TEST(Rerun, CommandGetsRevisionAndFlags) {
  const nlohmann::json record = {
      {"flags",
       {{"given", {{"model", "le net"}, {"batch_size", 8}, {"result_file", "a"}}},
        {"output", {{"result_file", "a"}}}}}};
  EXPECT_EQ(filled_command("run {rev} -- {flags} {rev}", "abc", record),
            "run 'abc' -- --batch_size='8' --model='le net' 'abc'");
  EXPECT_THROW(filled_command("run", "abc", record), UsageError);
}

/// Uses a program that writes a record with the rate from a file named like the revision.
class RerunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) /
        fmt::format("rerun-{}", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "rerun")
        << "#!/bin/sh\nfor word; do case $word in --result_file=*) file=${word#*=};; esac; done\n"
           "cp \"${0%/*}/$1.json\" \"$file\"\n";
    std::filesystem::permissions(folder_ / "rerun", std::filesystem::perms::owner_all);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void revision_runs_at(const std::string& revision, double rate) const {
    std::ofstream(folder_ / (revision + ".json"))
        << sealed(json_of(made_record("resnet50", 64, rate))).dump();
  }

  Tracked rerun() {
    const std::vector<RunSeries> series = {made_series({.steps = {{59, 0.93}}})};
    Tracked tracked = track(series, {}, {}, {});
    EXPECT_EQ(tracked.series[0].newest_state, NewestState::kSuspect);
    rerun_suspects(
        tracked,
        {.command = (folder_ / "rerun").string() + " {rev}",
         .pairs = 6,
         .folder = folder_ / "runs"},
        [](const std::string& /*id*/) { return nlohmann::json(); }, err_);
    return tracked;
  }

  std::filesystem::path folder_;
  std::ostringstream err_;
};

TEST_F(RerunTest, ASlowRerunConfirms) {
  revision_runs_at("rev58", 100);
  revision_runs_at("rev59", 93);
  const Tracked tracked = rerun();
  EXPECT_EQ(tracked.series[0].newest_state, NewestState::kConfirmed);
  ASSERT_EQ(tracked.series[0].changes.size(), 1);
  EXPECT_EQ(tracked.series[0].changes[0].by, FoundBy::kRerun);
  EXPECT_EQ(exit_status(tracked), 1);
}

TEST_F(RerunTest, AFailedRerunIsReportedAndDecidesNothing) {
  revision_runs_at("rev58", 100);
  const Tracked tracked = rerun();
  EXPECT_EQ(tracked.series[0].newest_state, NewestState::kSuspect);
  EXPECT_EQ(tracked.series[0].newest_why.substr(0, 16), "a rerun failed: ");
  EXPECT_NE(tracked.series[0].newest_why.find("'rev59'' ended with status"), std::string::npos);
  EXPECT_NE(err_.str().find("a rerun failed: "), std::string::npos);
  EXPECT_EQ(exit_status(tracked), 0);
}

TEST_F(RerunTest, AFastRerunClears) {
  revision_runs_at("rev58", 100);
  revision_runs_at("rev59", 100.1);
  const Tracked tracked = rerun();
  EXPECT_EQ(tracked.series[0].newest_state, NewestState::kCleared);
  EXPECT_EQ(tracked.series[0].newest_why.substr(0, 37), "the result of a rerun is equivalent, ");
  EXPECT_EQ(exit_status(tracked), 0);
}

}  // namespace
}  // namespace bench::results
