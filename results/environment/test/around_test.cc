#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "models/base/errors.h"
#include "results/environment/busy_processes.h"
#include "results/environment/cgroup.h"
#include "results/environment/cpu_watch.h"
#include "results/environment/rapl.h"
#include "results/environment/storage.h"
#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

using std::chrono::seconds;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void add_process(const FakeSystem& system, const std::string& pid, const std::string& name,
                 std::int64_t ticks) {
  system.write(fmt::format("/proc/{}/stat", pid),
               fmt::format("7 ({}) R 1 1 1 0 -1 4194304 0 0 0 0 {} 0 0 0 20 0 1 0\n", name, ticks));
}

TEST(BusyProcesses, AreTheThreeBusiestProcesses) {
  const FakeSystem system;
  add_process(system, "self", "bench", 0);
  add_process(system, "7", "bench", 0);
  add_process(system, "20", "a (name)", 1000);
  add_process(system, "21", "idle", 5);
  add_process(system, "22", "second", 0);
  const auto before = read_process_times(system.files());
  const auto per_second = static_cast<std::int64_t>(::sysconf(_SC_CLK_TCK));
  add_process(system, "7", "bench", 20 * per_second);
  add_process(system, "20", "a (name)", 1000 + 10 * per_second);
  add_process(system, "22", "second", 5 * per_second);
  add_process(system, "30", "began later", 2 * per_second);
  add_process(system, "31", "fourth", per_second);
  const auto busy = busiest(before, read_process_times(system.files()), seconds(10));
  ASSERT_THAT(busy.value(), SizeIs(3));
  EXPECT_EQ(busy.value()[0].name, "a (name)") << "without the run itself";
  EXPECT_DOUBLE_EQ(busy.value()[0].processors, 1);
  EXPECT_EQ(busy.value()[1].name, "second");
  EXPECT_EQ(busy.value()[2].name, "began later");
}

TEST(BusyProcesses, AreWithoutTheOtherProcessesOfTheRun) {
  const FakeSystem system;
  add_process(system, "self", "bench", 0);
  add_process(system, "7", "bench", 0);
  add_process(system, "8", "bench", 500);
  add_process(system, "9", "other", 500);
  const auto times = read_process_times(system.files(), {8}).value().by_pid;
  EXPECT_EQ(times.count(8), 0U);
  EXPECT_EQ(times.count(9), 1U);
}

TEST(BusyProcesses, SayWhyTheyAreNotKnown) {
  const auto none = read_process_times(FakeSystem().files());
  EXPECT_THAT(none.why(), HasSubstr("cannot read /proc"));
  EXPECT_EQ(busiest(none, none, seconds(1)).why(), none.why());
}

TEST(Storage, IsTheNearestMountAndItsDisk) {
  const FakeSystem system;
  system.write("/proc/self/mountinfo",
               "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
               "30 22 8:17 / /data rw,noatime - xfs /dev/sdb1 rw\n");
  system.write("/sys/dev/block/8:17/queue/rotational", "0\n");
  system.write("/sys/dev/block/8:17/queue/scheduler", "none [mq-deadline] kyber\n");
  const results::Storage storage = capture_storage(system.files(), "/data/imagenet").value();
  EXPECT_EQ(storage.filesystem, "xfs");
  EXPECT_EQ(storage.device, "/dev/sdb1");
  EXPECT_EQ(storage.mount_options, "rw,noatime");
  EXPECT_FALSE(storage.rotational.value());
  EXPECT_EQ(storage.scheduler.value(), "mq-deadline");
  const results::Storage other = capture_storage(system.files(), "/database").value();
  EXPECT_EQ(other.filesystem, "ext4") << "/data is not a parent folder of it";
  EXPECT_FALSE(other.rotational.known());
}

TEST(Rapl, CountsPackagesAndTheirMemory) {
  const FakeSystem system;
  const auto write = [&](const std::string& entry, const std::string& name, int microjoules) {
    const std::string folder = "/sys/class/powercap/" + entry;
    system.write(folder + "/name", name);
    system.write(folder + "/energy_uj", fmt::format("{}", microjoules));
    system.write(folder + "/max_energy_range_uj", "100000000");
  };
  write("intel-rapl:0", "package-0", 99'000'000);
  write("intel-rapl:0:0", "core", 1);
  write("intel-rapl:0:1", "dram", 1'000'000);
  write("intel-rapl:1", "psys", 1'000'000);
  const auto before = read_rapl(system.files());
  write("intel-rapl:1", "psys", 9'000'000);
  write("intel-rapl:0", "package-0", 4'000'000);
  write("intel-rapl:0:1", "dram", 1'500'000);
  const results::Energy energy = rapl_energy(before, read_rapl(system.files()));
  EXPECT_EQ(energy.source.value(), "rapl");
  ASSERT_THAT(energy.domains, SizeIs(2))
      << "the cores are within the package, and the package within the platform";
  EXPECT_DOUBLE_EQ(energy.domains[0].joules, 5) << "the counter wrapped around";
  EXPECT_EQ(energy.domains[1].name, "dram-0");
  EXPECT_DOUBLE_EQ(energy.joules.value(), 5.5);
}

TEST(Rapl, SaysWhyItCannotBeRead) {
  const FakeSystem system;
  EXPECT_THAT(read_rapl(system.files()).why(), HasSubstr("cannot read /sys/class/powercap"));
  system.make_folder("/sys/class/powercap/dtpm");
  EXPECT_THAT(read_rapl(system.files()).why(), HasSubstr("has no intel-rapl"));
  system.write("/sys/class/powercap/intel-rapl:0/name", "package-0");
  const auto unreadable = read_rapl(system.files());
  EXPECT_THAT(unreadable.why(), HasSubstr("as root: chmod a+r"));
  const results::Energy energy = rapl_energy(unreadable, unreadable);
  EXPECT_FALSE(energy.joules.known());
  EXPECT_EQ(energy.source.why(), unreadable.why());
}

TEST(CpuWatch, SamplesClockAndHeat) {
  const FakeSystem system;
  system.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  system.write("/sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "3000000\n");
  system.write("/sys/class/hwmon/hwmon0/name", "nvme\n");
  system.write("/sys/class/hwmon/hwmon0/temp1_input", "90000\n");
  system.write("/sys/class/hwmon/hwmon1/name", "k10temp\n");
  system.write("/sys/class/hwmon/hwmon1/temp1_input", "61500\n");
  system.write("/sys/class/hwmon/hwmon1/temp3_input", "64000\n");
  const SystemFiles files = system.files();
  CpuWatch watch(files, {0, 2}, std::chrono::hours(1));
  watch.end();
  EXPECT_THAT(watch.result().mhz.value(), Each(2500));
  EXPECT_THAT(watch.result().celsius.value(), Each(64));
}

TEST(CpuWatch, SaysWhyNeitherIsKnown) {
  const FakeSystem system;
  const SystemFiles files = system.files();
  CpuWatch watch(files, {0});
  watch.end();
  EXPECT_THAT(watch.result().mhz.why(), HasSubstr("scaling_cur_freq"));
  EXPECT_THAT(watch.result().celsius.why(), HasSubstr("no sensor"));
}

TEST(Throttling, IsCountedBetweenTwoReadings) {
  const FakeSystem system;
  system.write("/proc/self/cgroup", "0::/\n");
  system.write("/proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  system.write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  system.write("/sys/fs/cgroup/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 1000\n");
  const results::Throttling before = cgroup_throttling(system.files());
  system.write("/sys/fs/cgroup/cpu.stat", "usage_usec 9\nnr_throttled 5\nthrottled_usec 4000\n");
  const results::Throttling during = throttled_between(before, cgroup_throttling(system.files()));
  EXPECT_EQ(during.periods.value(), 2);
  EXPECT_EQ(during.time.value(), std::chrono::milliseconds(3));
  EXPECT_THAT(cgroup_throttling(FakeSystem().files()).periods.why(), HasSubstr("no cgroup"));
}

TEST(NamesIn, AreSorted) {
  const FakeSystem system;
  system.write("/a/c", "");
  system.write("/a/b", "");
  EXPECT_THAT(system.files().names_in("/a").value(), testing::ElementsAre("b", "c"));
  EXPECT_THAT(system.files().names_in("/none").why(), HasSubstr("cannot read /none"));
}

}  // namespace
}  // namespace bench
