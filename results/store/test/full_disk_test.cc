#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/store/store.h"
#include "results/store/test/made_record.h"
#include "results/store/test/temporary_store.h"

namespace bench::results {
namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;

/// A run so large that only a few fit on the disk below; its numbers do not compress well.
StoredRun large_run(int number) {
  RandomStream random(static_cast<std::uint64_t>(number));
  Record record = made_record("resnet50", 64, 100 + number);
  record.time.start_utc += std::chrono::minutes(number);
  for (int i = 0; i < 10'000; ++i) {
    record.series.loss.push_back(static_cast<double>(random.normal()));
  }
  return stored_run(json_of(record));
}

/// Ends the process with `status`, and writes the reason to `file`.
[[noreturn]] void end_with(int status, const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
  ::_exit(status);
}

/// Mounts a separate disk of a megabyte for this process; skips if the system does not allow it.
void mount_small_disk(const fs::path& place, const fs::path& said) {
  const auto uid = ::getuid();
  const auto gid = ::getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    end_with(kSkipped, said, fmt::format("unshare: {}", std::strerror(errno)));
  }
  // Files can be made by users and groups alone that the new namespace has.
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
  if (::mount("tmpfs", place.c_str(), "tmpfs", 0, "size=1m") != 0) {
    end_with(kSkipped, said, fmt::format("mount: {}", std::strerror(errno)));
  }
}

/// The first failed check; empty if all pass.
std::string fill_and_mend(const fs::path& disk, const fs::path& path) {
  int stored = 0;
  std::string why;
  while (why.empty() && stored < 100) {
    try {
      Store(path, Store::Access::kWrite).add(large_run(stored));
      ++stored;
    } catch (const WriteError& error) {
      why = error.what();
    }
  }
  if (stored == 0 || stored == 100) return fmt::format("stored {} runs: {}", stored, why);
  if (why.find("No space left") == why.npos && why.find("full") == why.npos) {
    return "the error does not name the reason: " + why;
  }
  {
    Store store(path, Store::Access::kRead);
    if (store.size() != stored || store.load({}).size() != static_cast<std::size_t>(stored)) {
      return fmt::format("the store has {} of {} runs", store.size(), stored);
    }
  }
  if (::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=8m") != 0) {
    return fmt::format("remount: {}", std::strerror(errno));
  }
  Store store(path, Store::Access::kWrite);
  if (!store.add(large_run(stored))) return "the refused run counts as stored";
  return store.size() == stored + 1 ? "" : "it does not continue after space is freed";
}

class AFullDisk : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Forms, AFullDisk, testing::Values("results.sqlite", "records/"),
                         [](const auto& form) { return form.index == 0 ? "Database" : "Folder"; });

TEST_P(AFullDisk, RefusesARunAndKeepsTheOthers) {
  const TemporaryFolder folder;
  const fs::path disk = folder.path() / "disk";
  const fs::path said = folder.path() / "said";
  fs::create_directory(disk);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    mount_small_disk(disk, said);
    std::string wrong;
    try {
      wrong = fill_and_mend(disk, disk / GetParam());
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    end_with(wrong.empty() ? 0 : 1, said, wrong);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::ifstream file(said);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) {
    GTEST_SKIP() << "cannot mount a separate disk: " << text;
  }
  EXPECT_EQ(status, 0) << text;
}

/// The same tests for both kinds of store.
class AStoreOfTwoProcesses : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Forms, AStoreOfTwoProcesses, testing::Values("results.sqlite", "records/"),
                         [](const auto& form) { return form.index == 0 ? "Database" : "Folder"; });

TEST_P(AStoreOfTwoProcesses, HasTheRunsOfBoth) {
  constexpr int kProcesses = 2;
  constexpr int kRuns = 6;
  const TemporaryFolder folder;
  const fs::path path = folder.path() / GetParam();
  std::array<int, 2> start{};
  ASSERT_EQ(::pipe(start.data()), 0);
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(::fork());
    ASSERT_GE(children.back(), 0);
    if (children.back() != 0) continue;
    // Both begin when the parent closes the pipe, so this includes creating the store.
    ::close(start[1]);
    char ignored = 0;
    (void)!::read(start[0], &ignored, 1);
    try {
      for (int i = 0; i < kRuns; ++i) {
        Store(path, Store::Access::kWrite).add(large_run(process * kRuns + i));
      }
    } catch (const std::exception& error) {
      end_with(1, folder.path() / fmt::format("said{}", process), error.what());
    }
    ::_exit(0);
  }
  ::close(start[0]);
  ::close(start[1]);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Store store(path, Store::Access::kRead);
  EXPECT_EQ(store.size(), kProcesses * kRuns);
  EXPECT_EQ(store.load({}).size(), std::size_t{kProcesses * kRuns});
  EXPECT_TRUE(store.warnings().empty());
}

}  // namespace
}  // namespace bench::results
