#include "results/store/record_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/store/test/made_record.h"

namespace bench::results {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

struct Keys {
  std::string workload;
  std::string machine;
  std::string environment;
};

Keys keys_of(const Record& record) {
  const nlohmann::json json = json_of(record);
  return {key_of(workload_fields(json)), key_of(machine_fields(json)),
          key_of(environment_fields(json))};
}

TEST(WorkloadFields, DistinguishSeveralProcesses) {
  nlohmann::json one = json_of(made_record("resnet50", 64));
  nlohmann::json older = one;
  older["workload"].erase("processes");
  EXPECT_EQ(workload_fields(one), workload_fields(older));
  one["workload"]["processes"] = 2;
  EXPECT_NE(workload_fields(one), workload_fields(older));
}

TEST(RecordFields, WorkloadDoesNotDependOnTheMachineAndTheFiles) {
  Record record = made_record();
  const Keys before = keys_of(record);
  record.cpu.model = "another";
  record.host.kernel = "another";
  record.flags.command_line = {"bench", "--other"};
  record.flags.output["result_file"] = std::string("b.json");
  record.flags.execution["num_intra_threads"] = std::int64_t{1};
  EXPECT_EQ(keys_of(record).workload, before.workload);
}

TEST(WorkloadFields, HaveNoPathsAndNoInterval) {
  for (const char* name : {"init_from", "backbone_model_path", "eval_interval_secs"}) {
    const auto key_with = [&](const nlohmann::json& value) {
      nlohmann::json json = json_of(made_record("resnet50", 64));
      json["flags"]["workload"][name] = value;
      return key_of(workload_fields(json));
    };
    EXPECT_EQ(key_with("build-1/weights"), key_with("build-2/weights")) << name;
    if (std::string_view(name) != "eval_interval_secs") {
      EXPECT_NE(key_with("build-1/weights"), key_with(nullptr)) << name;
    }
  }
}

TEST(RecordFields, AnotherBatchIsAnotherWorkloadAndIsNamed) {
  const auto differing = differing_fields(workload_fields(json_of(made_record("resnet50", 64))),
                                          workload_fields(json_of(made_record("resnet50", 32))));
  EXPECT_THAT(differing, ElementsAre(Pair("workload.batch_per_device", Pair("64", "32")),
                                     Pair("workload.global_batch", Pair("64", "32"))));
}

TEST(RecordFields, AFlagThatChangesTheWorkloadCounts) {
  Record record = made_record();
  const Keys before = keys_of(record);
  record.flags.workload["weight_decay"] = 0.0;
  EXPECT_NE(keys_of(record).workload, before.workload);
  EXPECT_EQ(keys_of(record).environment, before.environment);
}

TEST(RecordFields, AFlagThatChangesTheExecutionIsPartOfTheEnvironment) {
  Record record = made_record();
  const Keys before = keys_of(record);
  record.flags.execution["autotune"] = std::string("full");
  EXPECT_EQ(keys_of(record).workload, before.workload);
  EXPECT_NE(keys_of(record).environment, before.environment);
}

TEST(RecordFields, ThreadsAndInstructionSetAreOfTheMachine) {
  Record record = made_record();
  const Keys before = keys_of(record);
  record.cpu.processors_used = std::vector<int>{1, 2};
  EXPECT_EQ(keys_of(record).machine, before.machine) << "other processors, as many";
  record.cpu.processors_used = std::vector<int>{0};
  EXPECT_NE(keys_of(record).machine, before.machine);
  record = made_record();
  record.cpu.isa_used = "avx2";
  EXPECT_NE(keys_of(record).machine, before.machine);
}

TEST(RecordFields, TheKernelIsOfTheEnvironmentAlone) {
  Record record = made_record();
  const Keys before = keys_of(record);
  record.host.kernel = "6.1.0-31";
  EXPECT_EQ(keys_of(record).machine, before.machine);
  EXPECT_NE(keys_of(record).environment, before.environment);
}

TEST(RecordFields, NoKeyHoldsMomentaryValues) {
  Record record = made_record();
  const Keys before = keys_of(record);
  record.memory.available = 5;
  record.load.before.loadavg_1m = 7;
  EXPECT_EQ(keys_of(record).environment, before.environment);
}

TEST(RecordFields, AContainersNameIsNotInTheMachineKey) {
  Record record = made_record();
  record.host.container = "docker";
  const Keys before = keys_of(record);
  record.host.hostname = "4f2a91c03be7";
  EXPECT_EQ(keys_of(record).machine, before.machine);
  EXPECT_EQ(machine_text(json_of(record)), "AMD EPYC 9654, 2 threads, avx512");
}

TEST(RecordFields, ARecordWithoutThemHasNone) {
  const nlohmann::json record = {{"workload", {{"model", "imported"}}}};
  EXPECT_THAT(workload_fields(record), ElementsAre(Pair("workload.model", "\"imported\"")));
  EXPECT_TRUE(machine_fields(record).empty());
  EXPECT_EQ(workload_text(record), "imported");
}

}  // namespace
}  // namespace bench::results
