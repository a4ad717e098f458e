#include "results/environment/memory_limit.h"

#include <gtest/gtest.h>

#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// 16 GiB in all, 8 GiB available.
void add_machine(const FakeSystem& system) {
  system.write("/proc/meminfo",
               "MemTotal:       16777216 kB\nMemFree:         1048576 kB\n"
               "MemAvailable:    8388608 kB\n");
}

void add_version_2(const FakeSystem& system) {
  system.write("/proc/self/mountinfo", "29 22 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  system.write("/proc/self/cgroup", "0::/outer/inner\n");
  system.make_folder("/cg/outer/inner");
}

std::string bytes(double gib) { return fmt::format("{}\n", static_cast<std::int64_t>(gib * kGiB)); }

TEST(MemoryLimit, IsTheFreeMemoryOfTheMachine) {
  const FakeSystem system;
  add_machine(system);
  const MemoryLimit limit = memory_limit(system.files()).value();
  EXPECT_EQ(limit.bytes, 8 * kGiB - kUnplannedBytes);
  EXPECT_EQ(limit.set_by, "/proc/meminfo (MemAvailable)");
}

TEST(MemoryLimit, IsTheGroupsLimitLessItsUseWithoutFileCache) {
  const FakeSystem system;
  add_machine(system);
  add_version_2(system);
  system.write("/cg/outer/inner/memory.max", bytes(4));
  system.write("/cg/outer/inner/memory.current", bytes(3));
  EXPECT_EQ(memory_limit(system.files()).value().bytes, 1 * kGiB - kUnplannedBytes);
  system.write("/cg/outer/inner/memory.stat",
               fmt::format("anon 1\nfile 99999999999\ninactive_file {}active_file {}shmem 7\n",
                           bytes(1.5), bytes(0.5)));
  const MemoryLimit limit = memory_limit(system.files()).value();
  EXPECT_EQ(limit.bytes, 3 * kGiB - kUnplannedBytes);
  EXPECT_EQ(limit.set_by, "/cg/outer/inner/memory.max");
}

TEST(MemoryLimit, CountsTheGroupsAboveToo) {
  const FakeSystem system;
  add_machine(system);
  add_version_2(system);
  system.write("/cg/outer/inner/memory.max", "max\n");
  system.write("/cg/outer/memory.max", bytes(5));
  system.write("/cg/outer/memory.current", bytes(2));
  const MemoryLimit limit = memory_limit(system.files()).value();
  EXPECT_EQ(limit.bytes, 3 * kGiB - kUnplannedBytes);
  EXPECT_EQ(limit.set_by, "/cg/outer/memory.max");
}

TEST(MemoryLimit, StaysBelowTheThrottlingMark) {
  const FakeSystem system;
  add_machine(system);
  add_version_2(system);
  system.write("/cg/outer/inner/memory.max", bytes(4));
  system.write("/cg/outer/inner/memory.high", bytes(2));
  EXPECT_EQ(memory_limit(system.files()).value().set_by, "/cg/outer/inner/memory.high");
  EXPECT_EQ(memory_limit(system.files()).value().bytes, 2 * kGiB - kUnplannedBytes);
}

TEST(MemoryLimit, KnowsVersion1AndItsWordForNoLimit) {
  const FakeSystem system;
  add_machine(system);
  system.write("/proc/self/mountinfo", "35 31 0:32 / /cg rw - cgroup cgroup rw,memory\n");
  system.write("/proc/self/cgroup", "4:memory:/job\n");
  system.write("/cg/memory.limit_in_bytes", "9223372036854771712\n");
  system.write("/cg/job/memory.limit_in_bytes", bytes(2));
  system.write("/cg/job/memory.usage_in_bytes", bytes(1));
  system.write("/cg/job/memory.stat",
               fmt::format("inactive_file 5\ntotal_inactive_file {}total_active_file {}",
                           bytes(0.25), bytes(0.25)));
  const MemoryLimit limit = memory_limit(system.files()).value();
  EXPECT_EQ(limit.bytes, kGiB + kGiB / 2 - kUnplannedBytes);
  EXPECT_EQ(limit.set_by, "/cg/job/memory.limit_in_bytes");
}

TEST(MemoryLimit, LeavesMemoryForTheProgramsCode) {
  const FakeSystem system;
  add_machine(system);
  add_version_2(system);
  system.write("/cg/outer/inner/memory.max", bytes(1));
  system.write("/cg/outer/inner/memory.current", bytes(0.25));
  // The cache that counts as free includes 64 MiB of this program's code.
  system.write("/cg/outer/inner/memory.stat", "inactive_file 0\nactive_file " + bytes(0.25));
  system.write("/proc/self/status", "VmRSS:\t   70000 kB\nRssFile:\t   65536 kB\n");
  EXPECT_EQ(memory_limit(system.files()).value().bytes, kGiB - kGiB / 16 - kUnplannedBytes);
}

TEST(MemoryLimit, CountsTheLimitsAndStacksOfTheProcess) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  const FakeSystem system;
  add_machine(system);
  system.write("/proc/self/status",
               "VmSize:\t  102400 kB\nVmData:\t   10240 kB\nCpus_allowed_list:\t0-2\n");
  system.write("/proc/self/limits",
               "Limit                     Soft Limit           Hard Limit           Units     \n"
               "Max data size             unlimited            unlimited            bytes     \n"
               "Max stack size            4194304              unlimited            bytes     \n"
               "Max address space         4294967296           unlimited            bytes     \n");
  const MemoryLimit space = memory_limit(system.files()).value();
  EXPECT_EQ(space.bytes, 4 * kGiB - 100 * kMiB - 6 * (4 + 64) * kMiB - kUnplannedBytes);
  EXPECT_EQ(space.set_by, "ulimit -v");
  system.write("/proc/self/limits", "Max data size   1073741824  1073741824  bytes\n");
  const MemoryLimit data = memory_limit(system.files()).value();
  EXPECT_EQ(data.bytes, kGiB - 10 * kMiB - 6 * 8 * kMiB - kUnplannedBytes);
  EXPECT_EQ(data.set_by, "ulimit -d");
}

TEST(MemoryLimit, IsNeverNegative) {
  const FakeSystem system;
  add_machine(system);
  add_version_2(system);
  system.write("/cg/outer/inner/memory.max", bytes(1));
  system.write("/cg/outer/inner/memory.current", bytes(2));
  EXPECT_EQ(memory_limit(system.files()).value().bytes, 0);
}

TEST(MemoryLimit, ALimitAboveTheMachineChangesNothing) {
  const FakeSystem system;
  add_machine(system);
  add_version_2(system);
  system.write("/cg/outer/inner/memory.max", bytes(64));
  EXPECT_EQ(memory_limit(system.files()).value().bytes, 8 * kGiB - kUnplannedBytes);
}

TEST(MemoryLimit, SaysWhyItIsUnknown) {
  const FakeSystem system;
  EXPECT_EQ(memory_limit(system.files()).why(),
            "cannot open /proc/meminfo: No such file or directory");
  system.write("/proc/meminfo", "MemTotal: 1 kB\n");
  EXPECT_EQ(memory_limit(system.files()).why(), "/proc/meminfo has no MemAvailable");
}

TEST(MemoryLimit, IsKnownOnThisMachine) { EXPECT_GT(memory_limit(SystemFiles()).value().bytes, 0); }

}  // namespace
}  // namespace bench
