#include "bench/report/build_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "kernels/reference/reference_backend.h"
#include "results/environment/test/fake_system.h"
#include "results/record/record_json.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

results::Record begun(const std::vector<std::string_view>& arguments, const SystemFiles& files) {
  const ParseResult parsed = parse(arguments);
  return begin_record(resolve_settings(parsed), parsed, {"bench", "--x"}, files);
}

std::string text_of(const results::FlagValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "no text" : *text;
}

TEST(Record, BeginsWithTheWorkloadAndBothGivenAndEffectiveFlags) {
  const FakeSystem system;
  const results::Record record =
      begun({"--model=lenet", "--forward_only", "--device=CPU"}, system.files());
  EXPECT_EQ(record.workload.model, "lenet");
  EXPECT_EQ(record.workload.printed_model, "lenet5");
  EXPECT_EQ(record.workload.mode, "fwd");
  EXPECT_EQ(record.workload.data, "synthetic");
  EXPECT_EQ(record.workload.global_batch, record.workload.batch_per_device);
  EXPECT_EQ(record.workload.image_size, 28);
  EXPECT_THAT(record.flags.command_line, ElementsAre("bench", "--x"));
  EXPECT_EQ(record.flags.given.size(), 3U);
  EXPECT_EQ(text_of(record.flags.given.at("device")), "cpu");
  EXPECT_EQ(record.workload.num_batches, 100);
  EXPECT_DOUBLE_EQ(record.workload.num_epochs, 100.0 * 32 / 1281167);
  EXPECT_EQ(record.flags.workload.at("num_classes"), results::FlagValue(std::int64_t{1001}));
}

TEST(Record, HoldsTheTypeOfTheInput) {
  const FakeSystem system;
  for (const auto& [model, type] :
       {std::pair("--model=lstm_lm", "s32"), std::pair("--model=deepspeech2", "f32"),
        std::pair("--model=ssd300", "f32")}) {
    EXPECT_EQ(begun({model}, system.files()).dataset.image_type, type) << model;
  }
}

TEST(Record, HoldsTheBatchAsANumberHoweverItWasGiven) {
  const FakeSystem system;
  const auto given = [&](std::string_view text) {
    return begun({"--model=lenet", text}, system.files()).flags.given.at("batch_size");
  };
  EXPECT_EQ(given("--batch_size=8"), results::FlagValue(std::int64_t{8}));
  EXPECT_EQ(given("--batch_size=0"), results::FlagValue(std::int64_t{0}));
  // With auto, max or a list, the record holds the resulting number.
  const ParseResult parsed = parse({"--model=lenet", "--batch_size=auto"});
  const results::Record record =
      begin_record(with_batch(resolve_settings(parsed), 16), parsed, {}, system.files());
  EXPECT_EQ(record.flags.given.at("batch_size"), results::FlagValue(std::int64_t{16}));
  EXPECT_EQ(record.workload.batch_per_device, 16);
}

TEST(Record, NamesTheFilesOfOneOfSeveralRuns) {
  const FakeSystem system;
  const ParseResult parsed = parse({"--result_file=r", "--trace_file=t"});
  RunSettings settings = resolve_settings(parsed);
  settings.outputs.files.result = "r.batch8";
  const results::Record record = begin_record(settings, parsed, {}, system.files());
  for (const auto& flags : {record.flags.given, record.flags.output}) {
    EXPECT_EQ(text_of(flags.at("result_file")), "r.batch8");
    EXPECT_EQ(text_of(flags.at("trace_file")), "t");
  }
  EXPECT_FALSE(record.flags.given.contains("save_variables"));
}

TEST(Record, HoldsTensorFlowsVariablesWithItsLogs) {
  const FakeSystem system;
  ASSERT_EQ(::setenv("TF_CPP_BENCH_RECORD_TEST", "1", 1), 0);
  EXPECT_TRUE(begun({}, system.files()).tensorflow_env.empty());
  const results::Record record = begun({"--benchmark_log_dir=logs"}, system.files());
  EXPECT_EQ(::unsetenv("TF_CPP_BENCH_RECORD_TEST"), 0);
  EXPECT_THAT(record.tensorflow_env,
              testing::Contains(testing::Pair("TF_CPP_BENCH_RECORD_TEST", "1")));
  EXPECT_FALSE(record.env.contains("TF_CPP_BENCH_RECORD_TEST"));
}

TEST(Record, NamesTheSourceOfTheImages) {
  const FakeSystem system;
  EXPECT_EQ(begun({"--input_file=a.safetensors"}, system.files()).workload.data, "file");
}

TEST(Record, HoldsTheEffectiveImageSizeAndLearningRate) {
  const FakeSystem system;
  const auto flags = [&](const std::vector<std::string_view>& arguments) {
    return begun(arguments, system.files()).flags.workload;
  };
  EXPECT_EQ(begun({"--model=lenet"}, system.files()).workload.image_size, 28);
  const auto lenet = flags({"--model=lenet"});
  EXPECT_EQ(lenet.at("init_learning_rate"), results::FlagValue(0.005 / (127.5 * 127.5)));
  EXPECT_EQ(lenet.at("resnet_base_lr"), results::FlagValue());
  const auto resnet = flags({"--model=resnet50", "--image_size=64"});
  EXPECT_EQ(resnet.at("init_learning_rate"), results::FlagValue());
  EXPECT_EQ(resnet.at("resnet_base_lr"), results::FlagValue(0.128));
  EXPECT_EQ(flags({"--model=resnet50", "--init_learning_rate=1"}).at("resnet_base_lr"),
            results::FlagValue());
}

TEST(Record, HasTheSameWorkloadFlagsWithAndWithoutTheDefaultReduction) {
  const FakeSystem system;
  const auto flags = [&](const std::vector<std::string_view>& arguments) {
    return begun(arguments, system.files()).flags.workload;
  };
  const auto unset = flags({"--model=lenet"});
  EXPECT_EQ(unset, flags({"--model=lenet", "--gradient_reduction=mean"}));
  EXPECT_NE(unset, flags({"--model=lenet", "--gradient_reduction=sum"}));
}

TEST(Record, ExplainsUnknownValuesOfTheMachine) {
  const FakeSystem system;
  const results::Record record = begun({"--model=lenet"}, system.files());
  EXPECT_THAT(record.cpu.model.why(), HasSubstr("/proc/cpuinfo"));
  EXPECT_THAT(record.load.before.loadavg_1m.why(), HasSubstr("/proc/loadavg"));
}

TEST(Record, HoldsTheModelImplementationsAndDeviceOfThePlan) {
  const FakeSystem system;
  const ParseResult parsed =
      parse({"--model=trivial", "--device=reference", "--batch_size=2", "--forward_only"});
  const RunSettings settings = resolve_settings(parsed);
  results::Record record = begin_record(settings, parsed, {}, system.files());
  Device device;
  device.backend = make_reference_backend();
  device.processors = {3};
  device.isa = "generic";
  device.library_version = "Eigen";
  const Executor executor(build_run_graph(settings, *device.backend, 2), *device.backend, {});
  add_plan(record, settings, std::span(&device, 1), executor, {});
  EXPECT_THAT(record.cpu.processors_used.value(), ElementsAre(3));
  device.anywhere = true;
  add_plan(record, settings, std::span(&device, 1), executor, {});
  EXPECT_EQ(record.cpu.processors_used.why(), "its threads are not bound to processors");
  EXPECT_EQ(record.workload.model_params.value(), 4263877);
  EXPECT_EQ(record.workload.flops_per_image.value(), 2 * 4258779);
  std::size_t nodes = 0;
  for (const results::Implementation& row : record.implementations) {
    EXPECT_FALSE(row.implementation.empty()) << row.op;
    nodes += static_cast<std::size_t>(row.count);
  }
  EXPECT_EQ(nodes, executor.plan().steps.size());
}

TEST(Record, NamesNoProcessorsOfTowersThatAreKeptToNone) {
  const FakeSystem system;
  const ParseResult parsed =
      parse({"--model=lenet", "--device=reference", "--batch_size=2", "--num_gpus=2"});
  const RunSettings settings = resolve_settings(parsed);
  std::vector<Device> devices(2);
  for (Device& device : devices) {
    device.backend = make_reference_backend();
    device.processors = {0};
  }
  const Executor executor(build_run_graph(settings, *devices[0].backend, 2), *devices[0].backend,
                          {});
  const auto recorded = [&] {
    results::Record record = begin_record(settings, parsed, {}, system.files());
    add_plan(record, settings, devices, executor,
             {.updates = std::vector<StrategyMemory>(devices.size())});
    return record;
  };
  EXPECT_THAT(recorded().towers.at(1).processors, ElementsAre(0));
  devices[0].anywhere = devices[1].anywhere = true;
  EXPECT_THAT(recorded().towers.at(1).processors, ElementsAre());
}

TEST(Record, ServesAsAChoicesFile) {
  const FakeSystem system;
  const ParseResult parsed = parse({"--model=lenet", "--device=reference", "--batch_size=2"});
  const RunSettings settings = resolve_settings(parsed);
  results::Record record = begin_record(settings, parsed, {}, system.files());
  Device device;
  device.backend = make_reference_backend();
  const Executor executor(build_run_graph(settings, *device.backend, 2), *device.backend, {});
  add_plan(record, settings, std::span(&device, 1), executor, {});
  EXPECT_EQ(record.choices.by, "estimates");
  const auto read = parse_choices(results::record_json(record));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->choices.nodes.empty());
  EXPECT_EQ(*read, (ChoicesFile{.choices = executor.plan().choices,
                                .made_for = flags_of_choices(settings)}));
}

/// The measurements of a run of two steps.
results::Record measured(const InputStatistics& input, const FakeSystem& system) {
  system.write("/proc/stat", "cpu 100 0 0 100 0 0 0 0 0 0\ncpu0 100 0 0 100 0 0 0 0 0 0\n");
  system.write("/proc/self/stat", "1 (bench) S 0\n");
  const Captured<ProcessorTimes> before = read_processor_times(system.files());
  system.write("/proc/stat", "cpu 150 0 0 125 0 0 0 25 0 0\ncpu0 150 0 0 125 0 0 0 25 0 0\n");
  const ParseResult parsed = parse({"--model=lenet", "--batch_size=4"});
  const RunSettings settings = resolve_settings(parsed);
  results::Record record = begin_record(settings, parsed, {}, system.files());
  record.cpu.processors_used = std::vector<int>{0};
  SessionResult session;
  session.steps = {milliseconds(100), milliseconds(300)};
  session.own_steps = 2;
  session.losses = {2.5, 2.25};
  session.accuracies = {{.top_1 = 0.25, .top_5 = 0.5}, {.top_1 = 0, .top_5 = 0.75}};
  session.wall = milliseconds(500);
  add_measurements(record, settings,
                   {.session = session,
                    .memory = {},
                    .input = input,
                    .setup = milliseconds(700),
                    .peak_rss = std::int64_t{1} << 20,
                    .times_before = before},
                   system.files());
  return record;
}

double metric(const results::Record& record, std::string_view name) {
  for (const results::Metric& row : record.metrics) {
    if (row.name == name && row.value.known()) {
      return std::visit([](auto value) { return static_cast<double>(value); }, row.value.value());
    }
  }
  return -1;
}

TEST(Record, HoldsEveryStepAndBothSpeeds) {
  const FakeSystem system;
  const results::Record record = measured({}, system);
  EXPECT_THAT(record.series.step_ns, ElementsAre(milliseconds(100), milliseconds(300)));
  EXPECT_THAT(record.series.loss, ElementsAre(2.5, 2.25));
  EXPECT_THAT(record.series.top_1, ElementsAre(0.25, 0));
  EXPECT_THAT(record.series.top_5, ElementsAre(0.5, 0.75));
  EXPECT_DOUBLE_EQ(metric(record, "images_per_sec"), 16);
  EXPECT_DOUBLE_EQ(metric(record, "images_per_sec_steps"), 20);
  EXPECT_DOUBLE_EQ(metric(record, "peak_rss"), 1 << 20);
}

TEST(Record, HoldsTheShareOfProcessorTimeThatWasStolen) {
  const FakeSystem system;
  EXPECT_DOUBLE_EQ(measured({}, system).load.steal_share.value(), 0.25);
}

TEST(Record, HoldsTheProcessorsThatOtherProgramsTook) {
  const FakeSystem system;
  EXPECT_DOUBLE_EQ(measured({}, system).load.lacking_processors.value(), 0.5);
}

TEST(Record, HoldsTheFilesOfADataset) {
  const FakeSystem system;
  const results::Dataset read = measured({.shards = 8, .shard_bytes = 1000}, system).dataset;
  EXPECT_EQ(read.shards.value(), 8);
  EXPECT_EQ(read.bytes.value(), 1000);
  EXPECT_THAT(read.records.why(), HasSubstr("count"));
  EXPECT_EQ(measured({.shards = 1, .records = 64}, system).dataset.records.value(), 64);
  const results::Dataset synthetic = measured({}, system).dataset;
  EXPECT_EQ(synthetic.image_type, "f32");
  EXPECT_EQ(synthetic.image_bytes, 3 * 28 * 28 * 4);
  EXPECT_THAT(synthetic.shards.why(), HasSubstr("synthetic"));
  EXPECT_THAT(synthetic.bytes.why(), HasSubstr("synthetic"));
}

}  // namespace
}  // namespace bench
