#include "bench/runs/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/runs/test/small_run.h"

namespace bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(BeginRun, FillsTheRecordBeforeTheRun) {
  SmallRun small;
  Begun begun = small.begin();
  const results::Record& record = begun.file.record();
  EXPECT_EQ(record.workload.model, "lenet");
  EXPECT_EQ(record.flags.command_line, (std::vector<std::string>{"bench", "--x"}));
  EXPECT_EQ(record.verification.skipped, "the run ended before the check");
  EXPECT_EQ(begun.memory.total(), 0U);
  EXPECT_EQ(small.out(), "");
}

TEST(Prepare, MakesWhatTheStepsNeedAndPrintsTheLinesBeforeThem) {
  SmallRun small;
  Begun begun = small.begin();
  const auto prepared = prepare(begun, small.host);
  ASSERT_TRUE(prepared);
  ASSERT_NE(prepared->towers, nullptr);
  EXPECT_NE(prepared->towers->update(0), nullptr);
  EXPECT_NE(prepared->input, nullptr);
  EXPECT_FALSE(prepared->trace);
  EXPECT_FALSE(prepared->quantization);
  EXPECT_THAT(small.out(), HasSubstr("Model:       lenet5\n"));
  EXPECT_THAT(small.out(), EndsWith("==========\nGenerating training model\nInitializing graph\n"));
  EXPECT_GT(begun.memory.total(), 0U);
  std::ostringstream planned;
  planned << "planned memory: " << begun.memory << "\n";
  EXPECT_THAT(small.err(), HasSubstr(planned.str()));
  EXPECT_EQ(begun.file.record().workload.backend, "reference");
}

TEST(InputThreads, AreWithinTheQuotaUnlessTheirNumberIsGiven) {
  const SmallRun small;
  small.system().write("/proc/self/mountinfo",
                       "29 22 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
  small.system().write("/proc/self/cgroup", "0::/\n");
  small.system().write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  RunSettings settings = small.settings();
  const auto threads = [&](int given) {
    settings.workload.input.dataset = DatasetOptions{.data_dir = "", .num_threads = given};
    return with_input_threads(settings, small.host).workload.input.dataset->num_threads;
  };
  EXPECT_EQ(processors_within_quota(small.host), 1);
  EXPECT_EQ(threads(0), small.host.processors.size() > 1 ? 1 : 0);
  EXPECT_EQ(threads(5), 5);
}

TEST(Prepare, HasNoStrategyForARunThatLearnsNothing) {
  SmallRun small({"--forward_only"});
  Begun begun = small.begin();
  const auto prepared = prepare(begun, small.host);
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->towers->update(0), nullptr);
}

TEST(Prepare, LeavesNothingToMeasureAfterADump) {
  SmallRun small({"--dump=graph"});
  Begun begun = small.begin();
  EXPECT_FALSE(prepare(begun, small.host));
  EXPECT_THAT(small.out(), HasSubstr("conv1"));
  EXPECT_THAT(small.out(), Not(HasSubstr("Initializing graph")));
}

TEST(Prepare, LeavesNothingToMeasureAfterADumpOfTensors) {
  const ScratchFolder folder;
  const std::string path = folder.path() / "tensors";
  SmallRun small({"--dump_tensors=" + path});
  Begun begun = small.begin();
  EXPECT_FALSE(prepare(begun, small.host));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(Prepare, SaysWhereAnInterruptedRunEnded) {
  SmallRun small;
  Begun begun = small.begin();
  small.close_output();
  EXPECT_THROW(prepare(begun, small.host), RunEnded);
}

}  // namespace
}  // namespace bench
