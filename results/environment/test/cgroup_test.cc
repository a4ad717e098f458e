#include "results/environment/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

using ::testing::ElementsAre;

constexpr const char* kMountVersion2 =
    "29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

std::vector<std::string> folders(const FakeSystem& system, std::string_view controller) {
  std::vector<std::string> out;
  for (const CgroupLevel& level : cgroup_levels(system.files(), controller)) {
    out.push_back(level.folder);
  }
  return out;
}

TEST(CgroupLevels, GoUpToTheMountedRoot) {
  const FakeSystem system;
  system.write("/proc/self/mountinfo", kMountVersion2);
  system.write("/proc/self/cgroup", "0::/user.slice/job\n");
  system.make_folder("/sys/fs/cgroup/user.slice/job");
  EXPECT_THAT(
      folders(system, "memory"),
      ElementsAre("/sys/fs/cgroup/user.slice/job", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"));
}

TEST(CgroupLevels, FindVersion1NextToVersion2) {
  const FakeSystem system;
  system.write("/proc/self/mountinfo",
               "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
               "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
               "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  system.write("/proc/self/cgroup", "4:memory:/jobs/7\n1:cpu,cpuacct:/\n0::/\n");
  system.make_folder("/sys/fs/cgroup/memory/jobs/7");
  EXPECT_THAT(folders(system, "memory"),
              ElementsAre("/sys/fs/cgroup/memory/jobs/7", "/sys/fs/cgroup/memory/jobs",
                          "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"));
  EXPECT_THAT(folders(system, "cpu"),
              ElementsAre("/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/unified"));
  EXPECT_EQ(cgroup_levels(system.files(), "cpu").front().version, 1);
}

// A container that sees the host's path in /proc/self/cgroup but has its own group mounted.
TEST(CgroupLevels, UseTheMountWhereAContainerHidesTheRest) {
  const FakeSystem system;
  system.write("/proc/self/mountinfo",
               "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  system.make_folder("/sys/fs/cgroup/memory/inner");
  system.write("/proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  EXPECT_THAT(folders(system, "memory"),
              ElementsAre("/sys/fs/cgroup/memory/inner", "/sys/fs/cgroup/memory"));
  for (const char* hidden : {"4:memory:/docker/abc\n", "4:memory:/docker/abcd/x\n",
                             "4:memory:/docker/abc/gone\n", "4:memory:/../other\n"}) {
    system.write("/proc/self/cgroup", hidden);
    EXPECT_THAT(folders(system, "memory"), ElementsAre("/sys/fs/cgroup/memory")) << hidden;
  }
}

TEST(CgroupLevels, KnowBlanksInMountPoints) {
  const FakeSystem system;
  system.write("/proc/self/mountinfo", "29 22 0:26 / /mnt/my\\040groups rw - cgroup2 none rw\n");
  system.write("/proc/self/cgroup", "0::/\n");
  EXPECT_THAT(folders(system, "cpu"), ElementsAre("/mnt/my groups"));
}

TEST(CgroupLevels, AreEmptyWithoutControlGroups) {
  const FakeSystem system;
  EXPECT_TRUE(cgroup_levels(system.files(), "memory").empty());
  system.write("/proc/self/mountinfo", "1 1 0:1 / / rw - ext4 /dev/sda rw\nbroken line\n");
  system.write("/proc/self/cgroup", "nonsense\n");
  EXPECT_TRUE(cgroup_levels(system.files(), "memory").empty());
}

TEST(CgroupCpuQuota, IsTheSmallestOfAllLevels) {
  const FakeSystem system;
  system.write("/proc/self/mountinfo", kMountVersion2);
  system.write("/proc/self/cgroup", "0::/a/b\n");
  system.write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_FALSE(cgroup_cpu_quota(system.files()));
  system.write("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  const auto quota = cgroup_cpu_quota(system.files());
  ASSERT_TRUE(quota);
  EXPECT_DOUBLE_EQ(quota->processors, 1.5);
  EXPECT_EQ(quota->file, "/sys/fs/cgroup/a/cpu.max");
}

TEST(CgroupCpuQuota, IsReadFromVersion1) {
  const FakeSystem system;
  system.write("/proc/self/mountinfo", "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu\n");
  system.write("/proc/self/cgroup", "1:cpu:/\n");
  system.write("/cg/cpu/cpu.cfs_quota_us", "-1\n");
  system.write("/cg/cpu/cpu.cfs_period_us", "50000\n");
  EXPECT_FALSE(cgroup_cpu_quota(system.files()));
  system.write("/cg/cpu/cpu.cfs_quota_us", "100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(system.files())->processors, 2);
}

TEST(CgroupCpuset, PrefersTheEffectiveSet) {
  const FakeSystem system;
  system.write("/proc/self/mountinfo", kMountVersion2);
  system.write("/proc/self/cgroup", "0::/a\n");
  EXPECT_FALSE(cgroup_cpuset(system.files()).known());
  system.write("/sys/fs/cgroup/a/cpuset.cpus", "\n");
  system.write("/sys/fs/cgroup/a/cpuset.cpus.effective", "2-3\n");
  EXPECT_EQ(cgroup_cpuset(system.files()).value(), "2-3");
}

}  // namespace
}  // namespace bench
