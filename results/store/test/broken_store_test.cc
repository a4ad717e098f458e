#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/store/folder.h"
#include "results/store/schema.h"
#include "results/store/store.h"
#include "results/store/test/made_record.h"
#include "results/store/test/temporary_store.h"

namespace bench::results {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// A folder store with one run.
class BrokenFolder : public testing::Test {
 protected:
  BrokenFolder() { Store(path_, Store::Access::kWrite).add(run_); }

  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "records/";
  StoredRun run_ = stored_run(json_of(made_record()));
  fs::path month_ = record_path(path_, run_).parent_path();
};

TEST_F(BrokenFolder, IsReadWithoutAFileThatHasAHugeNumber) {
  std::ofstream(month_ / "0123456789abcdef.json") << R"({"a": 1e999})";
  const Store store(path_, Store::Access::kRead);
  EXPECT_EQ(store.size(), 1);
  EXPECT_THAT(store.warnings(), ElementsAre(HasSubstr("beyond the range of a double")));
  EXPECT_EQ(reindex(path_), 1);
}

TEST_F(BrokenFolder, IsReadWithoutWaitingForAPipe) {
  const fs::path pipe = month_ / "0123456789abcdef.json";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  fs::create_directory(month_ / "folder.json");
  const Store store(path_, Store::Access::kRead);
  EXPECT_EQ(store.size(), 1);
  EXPECT_THAT(store.warnings(), UnorderedElementsAre(pipe.string() + ": not a regular file",
                                                     HasSubstr("folder.json: not a regular file")));
}

TEST_F(BrokenFolder, RefusesNotesThatAreAPipe) {
  fs::create_directories(path_ / "notes");
  const fs::path pipe = path_ / "notes/baseline.jsonl";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  EXPECT_THROW(Store(path_, Store::Access::kRead), DataError);
}

TEST_F(BrokenFolder, SaysThatItReadsManyRecords) {
  for (int i = 0; i < 500; ++i) std::ofstream(month_ / fmt::format("{:016x}.json", i)) << "{}";
  std::string told;
  const Store store(path_, Store::Access::kRead, [&](const std::string& what) { told = what; });
  EXPECT_EQ(told, "reading 500 records for the index");
  EXPECT_EQ(store.warnings().size(), 500);
}

TEST_F(BrokenFolder, NamesTheCommandThatRepairsADamagedIndex) {
  std::ofstream(index_path(path_)) << std::string(5000, 'x');
  try {
    const Store store(path_, Store::Access::kRead);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("bench_results store --reindex --store=" + path_.string()));
  }
}

/// The exit status of `code` in a child process of another user, for whom permissions hold.
int status_without_privileges(const std::function<int()>& code) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(77);
    int status = 1;
    try {
      status = code();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A database in a folder, both without write permission.
class ReadOnlyDatabase : public testing::Test {
 protected:
  ReadOnlyDatabase() {
    Store(path_, Store::Access::kWrite).add(stored_run(json_of(made_record())));
    ::chmod(path_.c_str(), 0444);
    ::chmod(folder_.path().c_str(), 0555);
  }
  ~ReadOnlyDatabase() override { ::chmod(folder_.path().c_str(), 0755); }

  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "a 100%? #b.sqlite";
};

TEST_F(ReadOnlyDatabase, IsRead) {
  EXPECT_EQ(status_without_privileges([this] {
              const Store store(path_, Store::Access::kRead);
              return store.load({}).size() == 1 ? 0 : 2;
            }),
            0);
}

TEST_F(ReadOnlyDatabase, SaysThatAnotherUsersProgramWritesIt) {
  ::chmod(folder_.path().c_str(), 0755);
  std::ofstream(path_.string() + "-wal") << "x";
  ::chmod((path_.string() + "-wal").c_str(), 0444);
  ::chmod(folder_.path().c_str(), 0555);
  EXPECT_EQ(status_without_privileges([this] {
              try {
                const Store store(path_, Store::Access::kRead);
              } catch (const DataError& error) {
                return std::string(error.what()).find("another user's program") != std::string::npos
                           ? 0
                           : 2;
              }
              return 3;
            }),
            0);
}

/// Copies a database as it is while a program writes it, as if the program were killed then.
TEST(KilledWriter, LeavesADatabaseThatIsRead) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.sqlite";
  const fs::path copy = folder.path() / "b.sqlite";
  {
    const Database writer(path, Database::Mode::kWrite);
    writer.run("PRAGMA journal_mode = DELETE");
    make_schema(writer);
    writer.run("PRAGMA cache_size = 1");  // Changed pages go to the file before the commit.
    const Transaction transaction(writer);
    for (int i = 0; i < 200; ++i) {
      writer.run("INSERT INTO annotation VALUES('" + std::to_string(i) +
                 "', '', hex(zeroblob(999)))");
    }
    fs::copy_file(path, copy);
    fs::copy_file(path.string() + "-journal", copy.string() + "-journal");
  }
  const Store store(copy, Store::Access::kRead);
  EXPECT_EQ(store.annotations().size(), 0);
  EXPECT_FALSE(fs::exists(copy.string() + "-journal")) << "the changes are undone";
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Reads all that commands read.
void read_all(const fs::path& path) {
  const Store store(path, Store::Access::kRead);
  const std::vector<std::string> columns{"id", "start", "images_per_sec", "tag.site"};
  static_cast<void>(store.list(columns, {}, 100));
  static_cast<void>(store.summaries({}));
  static_cast<void>(store.load({}));
  static_cast<void>(store.baselines());
  static_cast<void>(store.changes());
  static_cast<void>(store.annotations());
}

TEST(BrokenDatabase, OfFlippedBitsIsRefusedAsDamaged) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.sqlite";
  {
    Store store(path, Store::Access::kWrite);
    nlohmann::json record = json_of(made_record());
    record["tags"] = {{"site", "ams"}};
    store.add(stored_run(sealed(record)));
    store.set_baseline({.name = "v1", .run_ids = {"x"}});
    store.set_change({.series_key = "s", .at_run = "x", .effect = -0.03, .state = "ack"});
  }
  const std::string whole = bytes_of(path);
  constexpr std::uint64_t kSeed = 7;
  RandomStream random(kSeed);
  int refused = 0;
  for (int trial = 0; trial < 150; ++trial) {
    std::string broken = whole;
    for (int flip = 0; flip < 8; ++flip) {
      broken[random.below(static_cast<std::uint32_t>(broken.size()))] ^=
          static_cast<char>(1U << random.below(8));
    }
    std::ofstream(path, std::ios::binary) << broken;
    try {
      read_all(path);
    } catch (const DataError&) {
      ++refused;
    } catch (const WriteError&) {
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "trial " << trial << " of seed " << kSeed << ": " << error.what();
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace bench::results
