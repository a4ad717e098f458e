#include "results/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "models/base/errors.h"
#include "models/base/temporary_file.h"
#include "results/store/folder.h"
#include "results/store/test/made_record.h"
#include "results/store/test/temporary_store.h"

namespace bench::results {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// One of any number of runs of the same workload.
StoredRun run_number(int number, const std::string& model = "resnet50") {
  Record record = made_record(model, 64, 100 + number);
  record.time.start_utc += std::chrono::minutes(number);
  return stored_run(json_of(record));
}

template <class Error, class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void write_text(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string check_of(const fs::path& path) {
  const Database database(path, Database::Mode::kRead);
  Statement check = database.prepare("PRAGMA integrity_check");
  return check.step() ? check.text(0) : "nothing";
}

/// The same tests for both kinds of store.
class AStore : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] fs::path path() const { return folder_.path() / GetParam(); }
  [[nodiscard]] Store open(Store::Access access = Store::Access::kWrite) const {
    return {path(), access};
  }

  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Forms, AStore, testing::Values("results.sqlite", "records/"),
                         [](const auto& form) { return form.index == 0 ? "Database" : "Folder"; });

TEST_P(AStore, GivesBackWhatWasPutIn) {
  const StoredRun run = run_number(1);
  EXPECT_TRUE(open().add(run));
  const std::vector<StoredRun> loaded = open(Store::Access::kRead).load({});
  ASSERT_EQ(loaded.size(), 1);
  EXPECT_EQ(loaded[0].record, run.record);
  EXPECT_EQ(loaded[0].workload_key, run.workload_key);
}

TEST_P(AStore, IsNotMadeByACheck) {
  check_can_store(path());
  EXPECT_FALSE(fs::exists(path()));
  open().add(run_number(1));
  check_can_store(path());
  EXPECT_EQ(open().size(), 1);
}

TEST_P(AStore, IsRefusedBeforeTheRunIfItCannotExist) {
  write_text(folder_.path() / "file", "x");
  EXPECT_THAT(refusal<WriteError>([&] { check_can_store(folder_.path() / "file" / GetParam()); }),
              HasSubstr("cannot create a store there"));
}

TEST_P(AStore, HoldsARunOnce) {
  Store store = open();
  EXPECT_TRUE(store.add(run_number(1)));
  EXPECT_FALSE(store.add(run_number(1)));
  EXPECT_TRUE(store.add(run_number(2)));
  EXPECT_EQ(store.size(), 2);
}

TEST_P(AStore, SummarisesWithoutRecords) {
  nlohmann::json record = json_of(made_record());
  record["tags"] = {{"site", "ams"}};
  record["label"] = "nightly";
  const StoredRun run = stored_run(sealed(record));
  open().add(run);
  const StoredRun summary = open(Store::Access::kRead).summaries({}).at(0);
  EXPECT_TRUE(summary.record.is_null());
  EXPECT_EQ(summary.record_id, run.record_id);
  EXPECT_EQ(summary.start_ms, run.start_ms);
  EXPECT_EQ(summary.workload, run.workload);
  EXPECT_EQ(summary.machine_key, run.machine_key);
  EXPECT_EQ(summary.environment_key, run.environment_key);
  EXPECT_EQ(summary.tags, run.tags);
  EXPECT_EQ(summary.label, "nightly");
  EXPECT_EQ(summary.dirty, false);
  EXPECT_EQ(summary.metrics.at("images_per_sec").value, 100);
  EXPECT_EQ(summary.metrics.at("images_per_sec").better, Better::kHigher);
  EXPECT_EQ(summary.metrics.at("model_params").kind, Kind::kExact);
}

TEST_P(AStore, ListsTheNewestFirst) {
  Store store = open();
  for (int i = 0; i < 3; ++i) store.add(run_number(i));
  const std::vector<std::string> columns = {"images_per_sec", "model", "tag.site"};
  EXPECT_THAT(store.list(columns, {}, 2),
              ElementsAre(ElementsAre(Cell(102.0), Cell("resnet50"), Cell()),
                          ElementsAre(Cell(101.0), Cell("resnet50"), Cell())));
}

TEST_P(AStore, KeepsBaselinesAndNotes) {
  open().set_baseline({.name = "v1", .selector = "label:a", .run_ids = {"x", "y"}, .note = "n"});
  open().set_change(
      {.series_key = "s", .at_run = "x", .effect = -0.03, .state = "ack", .by = "me"});
  open().annotate({.series_key = "s", .run = "x", .text = "a new fan"});
  const Store store = open(Store::Access::kRead);
  ASSERT_EQ(store.baselines().size(), 1);
  EXPECT_THAT(store.baselines()[0].run_ids, ElementsAre("x", "y"));
  ASSERT_EQ(store.changes().size(), 1);
  EXPECT_EQ(store.changes()[0].effect, -0.03);
  EXPECT_FALSE(store.changes()[0].p);
  EXPECT_EQ(store.annotations().at(0).text, "a new fan");
  open().remove_change("s", "y");
  EXPECT_EQ(open(Store::Access::kRead).changes().size(), 1);
  open().remove_change("s", "x");
  EXPECT_THAT(open(Store::Access::kRead).changes(), IsEmpty());
  EXPECT_TRUE(open().remove_baseline("v1"));
  EXPECT_FALSE(open().remove_baseline("v1"));
  EXPECT_THAT(open(Store::Access::kRead).baselines(), IsEmpty());
}

TEST_P(AStore, TakesRunsOfSeveralWritersAtOnce) {
  constexpr int kWriters = 4;
  constexpr int kRuns = 5;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer] {
      Store store = open();
      for (int i = 0; i < kRuns; ++i) store.add(run_number(writer * kRuns + i));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(open(Store::Access::kRead).size(), kWriters * kRuns);
}

TEST_P(AStore, KeepsTheNotesOfSeveralWritersAtOnce) {
  constexpr int kWriters = 4;
  constexpr int kNotes = 10;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer] {
      for (int i = 0; i < kNotes; ++i) {
        open().annotate(
            {.series_key = "s", .run = std::to_string(writer), .text = std::to_string(i)});
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(open(Store::Access::kRead).annotations().size(), kWriters * kNotes);
}

TEST_P(AStore, FindsThousandsOfRunsByTheirIds) {
  Store store = open();
  const StoredRun run = run_number(1);
  store.add(run);
  std::vector<std::string> ids(5000, "0123456789abcdef");
  ids.push_back(run.record_id);
  EXPECT_EQ(store.summaries(filter_of_ids(ids)).size(), 1);
  EXPECT_EQ(store.summaries(filter_of_ids(std::vector{run.record_id.substr(0, 6)})).size(), 1);
  EXPECT_THAT(store.summaries(filter_of_ids({})), IsEmpty());
}

/// Stores runs until it is killed.
[[noreturn]] void store_for_ever(const fs::path& path, int from) {
  Store store(path, Store::Access::kWrite);
  for (int i = from;; ++i) store.add(run_number(i));
}

TEST_P(AStore, IsWholeAfterKills) {
  open().add(run_number(0));
  for (int kill = 1; kill <= 4; ++kill) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      store_for_ever(path(), 1000 * kill);
    }
    // Until it has stored something, so that the kill interrupts the next run.
    while (open(Store::Access::kRead).load(parse_filter("", 0)).size() <
           static_cast<std::size_t>(kill) + 1) {
      std::this_thread::yield();
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const Store store = open();
    EXPECT_EQ(store.load({}).size(), static_cast<std::size_t>(store.size()));
    const bool is_database = std::string(GetParam()).ends_with("sqlite");
    EXPECT_EQ(check_of(is_database ? path() : index_path(path())), "ok");
  }
}

TEST_P(AStore, CanBeUsedAfterAKillDuringItsCreation) {
  for (int kill = 0; kill < 8; ++kill) {
    const fs::path place = folder_.path() / std::to_string(kill) / GetParam();
    fs::create_directories(folder_.path() / std::to_string(kill));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Store(place, Store::Access::kWrite).add(run_number(0));
      ::_exit(0);
    }
    bool ended = false;
    while (!fs::exists(place) && !ended) ended = ::waitpid(child, nullptr, WNOHANG) != 0;
    // On a busy machine, the child may end between the two checks.
    ASSERT_TRUE(fs::exists(place)) << "nothing was created";
    if (!ended) {
      for (int i = 0; i < 200 * kill; ++i) std::this_thread::yield();
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    Store store(place, Store::Access::kWrite);
    EXPECT_EQ(store.add(std::vector{run_number(1)}), 1);
    EXPECT_LE(store.load({}).size(), 2);
  }
}

TEST_P(AStore, LosesNothingIfTheDiskIsFull) {
  open().add(run_number(0));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // No file may grow much beyond its size after the first run.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 200'000, .rlim_max = 200'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Record record = made_record();
    record.series.loss.assign(100'000, 0);
    for (std::size_t i = 0; i < record.series.loss.size(); ++i) {
      record.series.loss[i] = 1.0 / static_cast<double>(i + 3);
    }
    const StoredRun run = stored_run(json_of(record));
    const std::string why =
        refusal<WriteError>([&] { Store(path(), Store::Access::kWrite).add(run); });
    // SQLite loses the system's reason.
    const bool said = why.find("the file is at its size limit") != std::string::npos ||
                      why.find("File too large") != std::string::npos;
    ::_exit(said ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Store store = open();
  EXPECT_EQ(store.load({}).size(), 1);
  EXPECT_TRUE(store.add(run_number(1)));
}

class ADatabase : public testing::Test {
 protected:
  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "a.sqlite";
};

TEST_F(ADatabase, IsRefusedIfItBelongsToAnotherProgram) {
  Database(path_, Database::Mode::kWrite).run("CREATE TABLE other(x)");
  const std::string says = "the database belongs to another program";
  for (const auto access : {Store::Access::kRead, Store::Access::kWrite}) {
    EXPECT_THAT(refusal<DataError>([&] { Store(path_, access); }), HasSubstr(says));
  }
  EXPECT_THAT(refusal<DataError>([&] { check_can_store(path_); }), HasSubstr(says));
}

TEST_F(ADatabase, IsRefusedIfItHasAnotherVersion) {
  { const Store store(path_, Store::Access::kWrite); }
  Database(path_, Database::Mode::kWrite).run("UPDATE meta SET value = '2'");
  EXPECT_THAT(refusal<DataError>([&] { Store(path_, Store::Access::kWrite); }),
              HasSubstr("the tables have version 2, but this program reads version 1"));
}

TEST_F(ADatabase, IsRefusedIfInvalid) {
  write_text(path_, std::string(5000, 'x'));
  EXPECT_THAT(refusal<DataError>([&] { Store(path_, Store::Access::kRead); }),
              HasSubstr("the file is not an SQLite database"));
  EXPECT_THAT(refusal<DataError>([&] { Store(folder_.path() / "b.sqlite", Store::Access::kRead); }),
              HasSubstr("the store does not exist"));
  for (const auto access : {Store::Access::kRead, Store::Access::kWrite}) {
    EXPECT_THAT(refusal<DataError>([&] { Store("/dev/null", access); }),
                HasSubstr("a store must be a regular file or a folder"));
  }
}

TEST_F(ADatabase, IsReadWhileAnotherProgramWrites) {
  Store(path_, Store::Access::kWrite).add(run_number(0));
  const Database writer(path_, Database::Mode::kWrite);
  const Transaction transaction(writer);
  writer.run("DELETE FROM run");
  EXPECT_EQ(Store(path_, Store::Access::kRead).size(), 1);
}

TEST_F(ADatabase, DetectsAChangedRecord) {
  Store store(path_, Store::Access::kWrite);
  store.add(run_number(0));
  Database(path_, Database::Mode::kWrite).run("UPDATE record SET json = x'1f8b00'");
  EXPECT_THROW(static_cast<void>(store.load({})), DataError);
}

class AFolder : public testing::Test {
 protected:
  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "records/";
};

TEST_F(AFolder, HasAFilePerRecordByMonth) {
  const StoredRun run = run_number(0);
  Store(path_, Store::Access::kWrite).add(run);
  EXPECT_TRUE(fs::exists(path_ / "2026" / "01" / (run.record_id + ".json")));
}

TEST_F(AFolder, SeesAddedAndRemovedFiles) {
  const StoredRun first = run_number(0);
  const StoredRun second = run_number(1);
  Store(path_, Store::Access::kWrite).add(first);
  write_record(path_, second);
  EXPECT_EQ(Store(path_, Store::Access::kRead).size(), 2);
  fs::remove(record_path(path_, first));
  EXPECT_EQ(Store(path_, Store::Access::kRead).summaries({}).at(0).record_id, second.record_id);
}

TEST_F(AFolder, IsRefusedBeforeTheRunIfUnreadable) {
  { Store(path_, Store::Access::kWrite).annotate({.series_key = "s", .run = "r", .text = "t"}); }
  write_text(path_ / "notes/annotation.jsonl", "<<<<<<< ours\n");
  EXPECT_THAT(refusal<DataError>([&] { check_can_store(path_); }),
              HasSubstr("not a row of the table annotation"));
}

TEST_F(AFolder, RebuildsItsIndexFromItsFiles) {
  {
    Store store(path_, Store::Access::kWrite);
    for (int i = 0; i < 5; ++i) store.add(run_number(i));
    store.set_baseline({.name = "v1"});
  }
  write_text(index_path(path_), "damaged");
  EXPECT_THROW(Store(path_, Store::Access::kRead), DataError);
  EXPECT_EQ(reindex(path_), 5);
  EXPECT_EQ(Store(path_, Store::Access::kRead).baselines().size(), 1);
}

TEST_F(AFolder, RemovesFilesOfKilledProgramsWhenWritten) {
  const StoredRun run = run_number(0);
  const fs::path month = record_path(path_, run).parent_path();
  fs::create_directories(month);
  const fs::path beside = month / "0123456789abcdef.json";
  pid_t killed = -1;
  {
    const TemporaryFile being_written(beside);  // A running program writes it.
    ASSERT_TRUE(being_written.open());
    killed = ::fork();
    ASSERT_GE(killed, 0);
    if (killed == 0) {
      const TemporaryFile half(beside);
      ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(killed, nullptr, 0);
    const fs::path left = month / fmt::format(".0123456789abcdef.json.{}.tmp", killed);
    ASSERT_TRUE(fs::exists(left));
    write_text(month / ".mine.tmp", "of somebody else");
    const auto hour_ago = fs::file_time_type::clock::now() - std::chrono::minutes(61);
    fs::last_write_time(month / fmt::format(".0123456789abcdef.json.{}.tmp", ::getpid()), hour_ago);
    Store(path_, Store::Access::kWrite);
    EXPECT_TRUE(fs::exists(left));  // Another machine may hold it, with an invisible lock.
    fs::last_write_time(left, hour_ago);
    static_cast<void>(Store(path_, Store::Access::kRead).size());
    EXPECT_TRUE(fs::exists(left));  // A reader removes nothing.
    Store(path_, Store::Access::kWrite).add(run);
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(month / fmt::format(".0123456789abcdef.json.{}.tmp", ::getpid())));
    EXPECT_TRUE(fs::exists(month / ".mine.tmp"));
  }
  EXPECT_EQ(Store(path_, Store::Access::kRead).size(), 1);
}

TEST_F(AFolder, HidesItsIndexAndTemporaryFilesFromGit) {
  Store(path_, Store::Access::kWrite).add(run_number(0));
  std::ifstream file(path_ / ".gitignore");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "index.sqlite*\n.*.tmp\n");
}

TEST_F(AFolder, AddsMissingPatternsToGitignore) {
  fs::create_directories(path_);
  write_text(path_ / ".gitignore", "index.sqlite*\nmine");
  const auto ignored = [this] {
    std::ifstream file(path_ / ".gitignore");
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  static_cast<void>(Store(path_, Store::Access::kRead).size());
  EXPECT_EQ(ignored(), "index.sqlite*\nmine");
  for (int i = 0; i < 2; ++i) {
    Store(path_, Store::Access::kWrite).add(run_number(i));
    EXPECT_EQ(ignored(), "index.sqlite*\nmine\n.*.tmp\n");
  }
}

TEST_F(AFolder, SkipsADamagedFileWithAWarning) {
  {
    Store store(path_, Store::Access::kWrite);
    store.add(run_number(0));
    store.add(run_number(1));
  }
  const fs::path bad = record_path(path_, run_number(1));
  fs::resize_file(bad, fs::file_size(bad) / 2);
  reindex(path_);
  const Store store(path_, Store::Access::kRead);
  EXPECT_EQ(store.size(), 1);
  EXPECT_THAT(store.warnings(), ElementsAre(HasSubstr("is truncated")));
}

}  // namespace
}  // namespace bench::results
