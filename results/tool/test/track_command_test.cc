#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/store/store.h"
#include "results/store/test/made_record.h"
#include "results/store/test/temporary_store.h"
#include "results/tool/commands.h"

namespace bench::results {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// How a made series differs from the default.
struct MadeDays {
  std::string model = "resnet50";
  std::size_t count = 40;
  std::size_t step = 25;  ///< From this run on, the rate is
  double factor = 0.95;   ///< multiplied by this.
  std::string label{};
  std::string git_rev{};   ///< One revision for all; empty: one each.
  bool disturbed = false;  ///< Other programs used the machine from the step on.
  int num_batches = 100;
};

/// `bench_results track` over a store with one run per day.
class TrackCommand : public testing::Test {
 protected:
  struct Outcome {
    int status;
    std::string out;
    std::string err;
  };

  [[nodiscard]] std::filesystem::path store_path() const { return folder_.path() / "s.sqlite"; }

  Outcome track(std::vector<std::string> words = {}) const {
    const Command& command = find_command("track");
    words.push_back("--store=" + store_path().string());
    std::ostringstream out;
    std::ostringstream err;
    const int status =
        command.run(Arguments(command.name, command.options(), words), {.out = out, .err = err});
    return {.status = status, .out = out.str(), .err = err.str()};
  }

  /// The ids of the runs.
  std::vector<std::string> store_days(const MadeDays& made) const {
    RandomStream random(1);
    std::vector<StoredRun> runs;
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < made.count; ++i) {
      const double rate = 100 * std::exp(0.003 * static_cast<double>(random.normal())) *
                          (i >= made.step ? made.factor : 1);
      Record record = made_record(made.model, 64, rate);
      record.time.start_utc += std::chrono::hours(24 * i);
      if (made.disturbed && i >= made.step) {
        record.load.busy = std::vector<BusyProcess>{{"spinner", 1.0}};
      }
      record.source.git_rev = made.git_rev.empty() ? fmt::format("rev{}", i) : made.git_rev;
      json day = json_of(record);
      day["label"] = made.label;
      day["workload"]["num_batches"] = made.num_batches;
      runs.push_back(stored_run(sealed(day), "made"));
      ids.push_back(runs.back().record_id);
    }
    Store(store_path(), Store::Access::kWrite).add(runs);
    return ids;
  }

  [[nodiscard]] std::vector<ChangeNote> notes() const {
    return Store(store_path(), Store::Access::kRead).changes();
  }

  TemporaryFolder folder_;
};

TEST_F(TrackCommand, SeriesOfDifferentWorkloadsHaveDifferentNames) {
  store_days({.factor = 1});
  store_days({.factor = 1, .num_batches = 20});
  const std::string told = track({"--all"}).out;
  EXPECT_THAT(told, HasSubstr("resnet50 train bs64 f32 (num_batches 100) on "));
  EXPECT_THAT(told, HasSubstr("resnet50 train bs64 f32 (num_batches 20) on "));
}

TEST_F(TrackCommand, PrintsOneFormAtATime) {
  store_days({});
  const json told = json::parse(track({"--format=json"}).out);
  EXPECT_EQ(told["series"].size(), 1);
  EXPECT_THAT(track({"--format=html"}).out, testing::EndsWith("</html>\n"));
}

TEST_F(TrackCommand, AnAcknowledgementReplacesEarlierNotesOfTheChange) {
  const std::vector<std::string> ids = store_days({});
  EXPECT_EQ(track({"--remember"}).status, 1);
  ASSERT_EQ(notes().size(), 1);
  ChangeNote moved = notes()[0];
  // Notes from when the change still seemed to begin some runs earlier or later.
  for (const std::size_t day : {23, 24, 26, 27}) {
    moved.at_run = ids[day];
    Store(store_path(), Store::Access::kWrite).set_change(moved);
  }
  const std::string id = json::parse(track({"--format=json"}).out)["series"][0]["changes"][0]["id"];
  EXPECT_EQ(track({"--ack=" + id}).status, 0);
  EXPECT_EQ(track().status, 0);
  ASSERT_EQ(notes().size(), 1);
  EXPECT_EQ(notes()[0].state, "ack");
  EXPECT_EQ(track({"--ack=" + id, "--as=new"}).status, 1);
  EXPECT_EQ(track().status, 1);
}

TEST_F(TrackCommand, FailsNobodyForDisturbedRuns) {
  store_days({.disturbed = true});
  const Outcome judged = track();
  EXPECT_EQ(judged.status, 0);
  EXPECT_THAT(judged.out, HasSubstr("disturbed (measure again, or use compare --run)"));
  EXPECT_THAT(judged.out, HasSubstr("Not judged, because the runs were disturbed:"));
  EXPECT_EQ(track({"--trust-disturbed"}).status, 1);
}

TEST_F(TrackCommand, SaysWhatDisturbedTheNewestRun) {
  store_days({.step = 39, .factor = 0.9, .disturbed = true});
  EXPECT_THAT(track().out, HasSubstr("disturbed, other programs used the processors"));
}

TEST_F(TrackCommand, RemembersOnlyReportedChanges) {
  store_days({.factor = 1.05});
  store_days({.model = "frozen", .factor = 1.05, .label = "canary", .git_rev = "frozen"});
  EXPECT_THAT(track({"--remember"}).out, HasSubstr("Not caused by the code"));
  EXPECT_THAT(track({"--remember", "--since=2026-02-20"}).out, HasSubstr("0 new improvements."));
  EXPECT_THAT(notes(), testing::IsEmpty());
  // Without the canary, the change is blamed on the code, and is news once.
  const std::vector<std::string> words = {"model:resnet50", "--remember"};
  EXPECT_THAT(track(words).out, HasSubstr("1 new improvements."));
  EXPECT_THAT(track(words).out, HasSubstr("0 new improvements."));
  EXPECT_EQ(notes().size(), 1);
}

TEST_F(TrackCommand, TheCommandOfOnChangeReceivesWhatIsNew) {
  store_days({});
  const std::filesystem::path received = folder_.path() / "received";
  const std::string on_change = fmt::format("--on-change=cat > '{}'; echo sent", received.string());
  EXPECT_EQ(track({"--remember", on_change}).status, 1);
  const json changes = json::parse(std::ifstream(received));
  ASSERT_EQ(changes["changes"].size(), 1);
  EXPECT_EQ(changes["changes"][0]["workload"], "resnet50 train bs64 f32");
  std::filesystem::remove(received);
  EXPECT_EQ(track({"--remember", on_change}).status, 1);
  EXPECT_FALSE(std::filesystem::exists(received)) << "the change is known";
}

TEST_F(TrackCommand, ChangesStayNewIfTheCommandOfOnChangeFails) {
  store_days({});
  (void)std::signal(SIGPIPE, SIG_IGN);  // The program ignores it, too.
  EXPECT_THROW(track({"--remember", "--on-change=exit 3"}), WriteError);
  EXPECT_THAT(notes(), testing::IsEmpty());
  EXPECT_THAT(track({"--remember"}).out, HasSubstr("1 new regressions"));
}

TEST_F(TrackCommand, APointCanBeADay) {
  store_days({.factor = 1, .git_rev = "same"});
  store_days({.step = 0, .factor = 1.001, .git_rev = "same"});
  const auto points = [&](const std::vector<std::string>& words) {
    return json::parse(track(words).out)["series"][0]["points"].size();
  };
  EXPECT_EQ(points({"--format=json"}), 80);
  EXPECT_EQ(points({"--format=json", "--points=day"}), 40);
}

TEST_F(TrackCommand, ReportsAlthoughARerunFailsOrIsInterrupted) {
  store_days({.step = 39, .factor = 0.9});
  const std::string keep = "--keep=" + (folder_.path() / "kept").string();
  const Outcome failed = track({keep, "--rerun-cmd=exit 3; : {rev}"});
  EXPECT_EQ(failed.status, 0);
  EXPECT_THAT(failed.out, HasSubstr("suspect, a rerun failed: 'exit 3; : 'rev38'' ended"));
  const Outcome interrupted =
      track({keep, fmt::format("--rerun-cmd=kill -INT {}; : {{rev}}", ::getpid())});
  EXPECT_EQ(interrupted.status, 130);
  EXPECT_THAT(interrupted.out, HasSubstr("suspect, the rerun was interrupted"));
}

}  // namespace
}  // namespace bench::results
