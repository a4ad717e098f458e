#include "results/environment/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A machine with 4 processors that was idle for 0.1 s.
EnvironmentSnapshot before() {
  return {.times = ProcessorTimes{.busy_ticks = 1000,
                                  .idle_ticks = 9000,
                                  .steal_ticks = 5,
                                  .own_ticks = 20,
                                  .online = 4,
                                  .procs_running = 1}};
}
EnvironmentSnapshot after(ProcessorTimes added) {
  ProcessorTimes times = before().times.value();
  times.busy_ticks += added.busy_ticks;
  times.idle_ticks += added.idle_ticks;
  times.steal_ticks += added.steal_ticks;
  times.own_ticks += added.own_ticks;
  times.procs_running += added.procs_running;
  return {.times = times};
}

TEST(EnvironmentWarnings, AreAbsentOnAQuietMachine) {
  EXPECT_THAT(environment_warnings(before(), after({.idle_ticks = 40}), {.processors = 4}),
              IsEmpty());
  EXPECT_THAT(environment_warnings(before(), after({}), {.processors = 4}), IsEmpty());
}

TEST(EnvironmentWarnings, ReportOtherPrograms) {
  EXPECT_THAT(environment_warnings(before(), after({.busy_ticks = 20, .idle_ticks = 20}),
                                   {.processors = 4}),
              ElementsAre(AllOf(HasSubstr("about 2.0 of 4 processors"),
                                HasSubstr("--num_intra_threads=2"))));
}

TEST(EnvironmentWarnings, DoNotBlameOthersForOurOwnWork) {
  EXPECT_THAT(
      environment_warnings(before(), after({.busy_ticks = 20, .idle_ticks = 20, .own_ticks = 20}),
                           {.processors = 4}),
      IsEmpty());
}

TEST(EnvironmentWarnings, IgnoreOthersOnUnusedProcessors) {
  const auto later = after({.busy_ticks = 10, .idle_ticks = 30});
  EXPECT_THAT(environment_warnings(before(), later, {.processors = 3}), IsEmpty());
  EXPECT_EQ(environment_warnings(before(), later, {.processors = 4}).size(), 1U);
}

TEST(EnvironmentWarnings, SeeATaskThatRanAtBothMoments) {
  EnvironmentSnapshot first = before();
  const auto second = after({.procs_running = 1});
  EXPECT_THAT(environment_warnings(first, second, {.processors = 4}), IsEmpty());
  ProcessorTimes times = first.times.value();
  times.procs_running = 2;
  first.times = times;
  EXPECT_THAT(environment_warnings(first, second, {.processors = 4}),
              ElementsAre(HasSubstr("about 1.0 of 4 processors")));
}

TEST(EnvironmentWarnings, CountNoMoreNeighboursThanProcessors) {
  EnvironmentSnapshot crowd = before();
  ProcessorTimes times = crowd.times.value();
  times.procs_running = 30;
  crowd.times = times;
  EXPECT_THAT(environment_warnings(crowd, crowd, {.processors = 4}),
              ElementsAre(HasSubstr("about 4.0 of 4 processors")));
}

TEST(EnvironmentWarnings, AdviseNoThreadsWhereNoProcessorIsFree) {
  const auto crowded = after({.busy_ticks = 40, .idle_ticks = 0});
  const auto half_free = after({.busy_ticks = 35, .idle_ticks = 5});
  for (const EnvironmentSnapshot& later : {crowded, half_free}) {
    EXPECT_THAT(environment_warnings(before(), later, {.processors = 4}),
                ElementsAre(EndsWith("Stop the other work.")));
  }
}

TEST(EnvironmentWarnings, DoNotCallTheRunsOtherProcessesOtherWork) {
  const auto later = after({.busy_ticks = 18, .idle_ticks = 22});
  EXPECT_THAT(environment_warnings(before(), later, {.processors = 4, .other_ranks = true}),
              IsEmpty());
}

TEST(EnvironmentWarnings, AdviseThreadsOfEachDevice) {
  const auto later = after({.busy_ticks = 18, .idle_ticks = 22});
  const auto warning = [&](int devices) {
    return environment_warnings(before(), later, {.processors = 4, .devices = devices}).at(0);
  };
  EXPECT_THAT(warning(1), EndsWith("Alternatively, use fewer threads (--num_intra_threads=2)."));
  EXPECT_THAT(warning(2), EndsWith("Alternatively, use fewer threads (--num_intra_threads=1)."));
  EXPECT_THAT(warning(4), EndsWith("Stop the other work."));
  EXPECT_THAT(warning(0), EndsWith("Stop the other work."));
}

TEST(EnvironmentWarnings, ReportSteal) {
  EXPECT_THAT(environment_warnings(before(), after({.idle_ticks = 95, .steal_ticks = 5}),
                                   {.processors = 1}),
              ElementsAre(HasSubstr("gives 5.0 % of the processor time to other machines")));
}

TEST(EnvironmentWarnings, ReportGovernorsThatChangeTheClock) {
  EnvironmentSnapshot later = after({.idle_ticks = 40});
  later.governors = {{0, "performance"}, {1, "powersave"}, {2, "powersave"}};
  EXPECT_THAT(environment_warnings(before(), later, {.processors = 3}),
              ElementsAre(AllOf(HasSubstr("2 of 3 processors"), HasSubstr("'powersave'"),
                                HasSubstr("cpupower frequency-set -g performance"))));
}

TEST(EnvironmentWarnings, ReportAQuotaSmallerThanTheRun) {
  EnvironmentSnapshot later = after({.idle_ticks = 40});
  later.quota = CpuQuota{.processors = 1.5, .file = "/sys/fs/cgroup/cpu.max"};
  EXPECT_THAT(environment_warnings(before(), later, {.processors = 4}),
              ElementsAre(AllOf(HasSubstr("1.50 processors (/sys/fs/cgroup/cpu.max)"),
                                HasSubstr("--num_intra_threads=1"))));
  EXPECT_THAT(environment_warnings(before(), later, {.processors = 1}), IsEmpty());
}

TEST(EnvironmentWarnings, AreAbsentIfNothingIsKnown) {
  EXPECT_THAT(environment_warnings({}, {}, {.processors = 4}), IsEmpty());
}

TEST(UsedByOthers, IsWithoutThisProcess) {
  ProcessorTimes later = before().times.value();
  later.online = 4;
  later.busy_ticks += 60;
  later.own_ticks += 20;
  later.idle_ticks += 40;
  EXPECT_DOUBLE_EQ(used_by_others(before().times.value(), later), 1.6);
  EXPECT_DOUBLE_EQ(used_by_others(later, later), 0);
}

TEST(StealShare, IsOfAllProcessorTime) {
  const ProcessorTimes first = before().times.value();
  EXPECT_DOUBLE_EQ(
      steal_share(first,
                  after({.busy_ticks = 50, .idle_ticks = 25, .steal_ticks = 25}).times.value()),
      0.25);
  EXPECT_DOUBLE_EQ(steal_share(first, first), 0);
  EXPECT_DOUBLE_EQ(steal_share(first, after({.steal_ticks = -1}).times.value()), 0);
}

TEST(ReadEnvironment, ReadsProcAndSys) {
  const FakeSystem system;
  system.write("/proc/stat",
               "cpu  100 20 30 4000 50 6 7 8 90 1\ncpu0 1 2 3 4 5 6 7 8 9 0\ncpu1 0 0 0 0 0 0 0 0 "
               "0 0\nintr 5\nprocs_running 3\nprocs_blocked 0\n");
  system.write("/proc/self/stat",
               "77 (a (b) c) R 1 77 77 0 -1 4194304 5 6 7 8 11 22 0 0 20 0 1 0 99\n");
  system.write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n");
  const std::vector<int> processors = {0, 1};
  const EnvironmentSnapshot snapshot = read_environment(system.files(), processors);
  const ProcessorTimes& times = snapshot.times.value();
  EXPECT_EQ(times.busy_ticks, 100 + 20 + 30 + 6 + 7);
  EXPECT_EQ(times.idle_ticks, 4050);
  EXPECT_EQ(times.steal_ticks, 8);
  EXPECT_EQ(times.own_ticks, 33);
  EXPECT_EQ(times.online, 2);
  EXPECT_EQ(times.procs_running, 3);
  EXPECT_EQ(snapshot.governors, (std::map<int, std::string>{{1, "schedutil"}}));
  EXPECT_FALSE(snapshot.quota);
}

TEST(ReadEnvironment, SaysWhyTimesAreUnknown) {
  const FakeSystem system;
  EXPECT_EQ(read_environment(system.files(), {}).times.why(),
            "cannot open /proc/stat: No such file or directory");
  system.write("/proc/stat", "nothing\n");
  EXPECT_EQ(read_environment(system.files(), {}).times.why(),
            "/proc/stat has no line of processor times");
}

}  // namespace
}  // namespace bench
