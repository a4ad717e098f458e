#include "bench/plan/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "bench/terminal/phase_watch.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/several_ways.h"
#include "results/environment/test/fake_clock.h"
#include "results/environment/test/fake_system.h"

namespace bench {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

RunSettings settings_of(const std::vector<std::string_view>& more) {
  std::vector<std::string_view> arguments{"--model=lenet", "--device=reference", "--batch_size=1",
                                          "--forward_only"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return resolve_settings(parse(arguments));
}

MemoryLimits limits_of(std::size_t bytes) {
  return {.host = MemoryLimit{.bytes = static_cast<std::int64_t>(bytes), .set_by = "the test"}};
}

/// The network of lenet on a device that offers several implementations of each layer.
class TunedRun : public testing::Test {
 protected:
  TuningResult tune_with(const std::string& extent = "full", std::vector<Way> ways = {}) {
    const std::string flag = fmt::format("--autotune={}", extent);
    const RunSettings settings =
        settings_of({flag, deterministic_ ? "--deterministic" : "--tf_random_seed=1"});
    const Graph graph = build_run_graph(settings, *reference_, settings.workload.batch);
    SeveralWaysBackend backend(make_reference_backend(), ways.empty() ? ways_ : std::move(ways),
                               clock_);
    ClockTimer timer(clock_);
    clock_.launches = 0;
    return tune({.settings = settings,
                 .graph = graph,
                 .backend = backend,
                 .timer = timer,
                 .cache = cache_,
                 .identity = identity_,
                 .limits = limits_,
                 .watch = watch_});
  }
  /// The chosen implementations of the layers that compute, except those that are not timed.
  static std::vector<std::string> ways_of(const TuningResult& result) {
    std::vector<std::string> ways;
    for (const auto& [name, choice] : result.choices.nodes) {
      if (const auto colon = choice.implementation.rfind(':'); colon != std::string::npos) {
        ways.push_back(choice.implementation.substr(colon + 1));
      }
    }
    return ways;
  }
  [[nodiscard]] std::filesystem::path only_file() const {
    const std::filesystem::directory_iterator files(folder_.path());
    check(files != end(files), "nothing is kept");
    return files->path();
  }
  /// The limits that leave this number of bytes to workspaces.
  [[nodiscard]] MemoryLimits limits_with(std::size_t workspace) const {
    const RunSettings settings = settings_of({});
    const PlannedMemory planned = plan_run_memory(settings, *reference_, settings.workload.batch);
    const MemoryNeed need = limits_of(0).need_of(planned);
    return limits_of(need.host - planned.executor.workspace + workspace);
  }

  ScratchFolder folder_;
  TuningCache cache_{folder_.path()};
  TuningKey identity_{.subject = {{"device", "a card"}}, .versions = {{"driver", "13.0"}}};
  Watch watch_;
  bool deterministic_ = false;
  KernelClock clock_;
  std::vector<Way> ways_{{.name = "slow", .seconds = 2}, {.name = "fast", .seconds = 1}};
  std::unique_ptr<Backend> reference_ = make_reference_backend();
  MemoryLimits limits_ = limits_with(64 * kMiB);
};

TEST_F(TunedRun, TakesTheFastestKernels) {
  const TuningResult result = tune_with();
  EXPECT_EQ(result.by, ChosenBy::timed);
  EXPECT_GT(result.counts.timed, 0);
  EXPECT_THAT(result.notices, IsEmpty());
  EXPECT_THAT(ways_of(result), Each("fast"));
}

TEST_F(TunedRun, TimesNothingInASecondStart) {
  const TuningResult first = tune_with();
  EXPECT_GT(clock_.launches, 0);
  const TuningResult second = tune_with();
  EXPECT_EQ(second.by, ChosenBy::kept);
  EXPECT_EQ(clock_.launches, 0);
  EXPECT_EQ(second.counts.timed, 0);
  EXPECT_THAT(second.notices, IsEmpty());
  EXPECT_EQ(second.choices, first.choices);
}

TEST_F(TunedRun, TimesAFewKernelsOfEachLayerOrAll) {
  const std::vector<Way> ways{{.name = "a", .seconds = 6},
                              {.name = "b", .seconds = 5},
                              {.name = "c", .seconds = 4},
                              {.name = "d", .seconds = 3},
                              {.name = "e", .seconds = 2}};
  EXPECT_THAT(ways_of(tune_with("quick", ways)), Each("d"));
  EXPECT_THAT(ways_of(tune_with("full", ways)), Each("e"));
  EXPECT_EQ(tune_with("quick", ways).by, ChosenBy::kept);
}

TEST_F(TunedRun, SkipsKernelsThatDoNotRepeatOnRequest) {
  ways_[1].deterministic = false;
  EXPECT_THAT(ways_of(tune_with()), Each("fast"));
  deterministic_ = true;
  const TuningResult result = tune_with();
  EXPECT_EQ(result.by, ChosenBy::estimates);
  EXPECT_THAT(ways_of(result), Each("slow"));
}

TEST_F(TunedRun, SkipsKernelsThatNeedTooMuchMemory) {
  ways_[1].workspace_bytes = 1024 * kMiB;
  const TuningResult result = tune_with();
  EXPECT_THAT(ways_of(result), Each("slow"));
  EXPECT_GT(result.counts.too_large, 0);
  EXPECT_THAT(result.notices, ElementsAre(HasSubstr("they need more memory than the run leaves")));
}

TEST_F(TunedRun, TimesAgainIfAKernelNoLongerFits) {
  ways_[1].workspace_bytes = 16 * kMiB;
  EXPECT_THAT(ways_of(tune_with()), Each("fast"));
  limits_ = limits_with(15 * kMiB);
  const TuningResult result = tune_with();
  EXPECT_EQ(result.by, ChosenBy::timed);
  EXPECT_THAT(ways_of(result), Each("slow"));
  ASSERT_FALSE(result.notices.empty());
  EXPECT_THAT(result.notices.front(),
              AllOf(StartsWith("kernels are timed again: "),
                    EndsWith(": the choices need more memory than is free now")));
}

TEST_F(TunedRun, TimesAgainWithAnotherDriver) {
  tune_with();
  identity_.versions["driver"] = "13.1";
  const TuningResult result = tune_with();
  EXPECT_EQ(result.by, ChosenBy::timed);
  EXPECT_THAT(result.notices,
              ElementsAre(HasSubstr("was made for driver=13.0, which is now 13.1")));
  EXPECT_EQ(tune_with().by, ChosenBy::kept);
}

TEST_F(TunedRun, TimesAgainAndRewritesADamagedFile) {
  tune_with();
  std::filesystem::resize_file(only_file(), std::filesystem::file_size(only_file()) / 2);
  const TuningResult result = tune_with();
  EXPECT_EQ(result.by, ChosenBy::timed);
  EXPECT_GT(result.counts.timed, 0);
  EXPECT_THAT(result.notices,
              ElementsAre(fmt::format("kernels are timed again: {} does not contain choices",
                                      only_file().string())));
  EXPECT_EQ(tune_with().by, ChosenBy::kept);
}

TEST_F(TunedRun, TimesAgainIfTheDeviceHasOtherKernels) {
  tune_with();
  ways_[1].name = "faster";
  const TuningResult result = tune_with();
  EXPECT_EQ(result.by, ChosenBy::timed);
  EXPECT_THAT(ways_of(result), Each("faster"));
  EXPECT_THAT(result.notices, ElementsAre(HasSubstr("this device or version has no kernel")));
}

TEST_F(TunedRun, KeepsNothingWhereTheUserEndsIt) {
  std::ostringstream out;
  FakeClock clock;
  PhaseWatch phases(out, clock, {}, [this] { return clock_.launches >= 3; });
  watch_ = phases.of("timing kernels", "kernel");
  EXPECT_THAT([&] { tune_with(); }, testing::ThrowsMessage<RunEnded>("while timing kernels"));
  EXPECT_EQ(clock_.launches, 3);
  watch_ = {};
  EXPECT_EQ(tune_with().by, ChosenBy::timed);
}

TEST_F(TunedRun, SaysWhyItKeepsNothing) {
  cache_ = TuningCache(std::nullopt);
  EXPECT_THAT(tune_with().notices,
              ElementsAre(HasSubstr("BENCH_CACHE_DIR, XDG_CACHE_HOME and HOME are not set")));
}

TEST_F(TunedRun, KeepsNothingIfEachNodeHasOneKernel) {
  const TuningResult result = tune_with("full", {{.name = "only", .seconds = 1}});
  EXPECT_EQ(result.by, ChosenBy::estimates);
  EXPECT_EQ(result.counts.timed, 0);
  EXPECT_THAT(ways_of(result), Each("only"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST(TimingMemory, GivesUnusedMemoryToWorkspaces) {
  PlannedMemory planned;
  planned.executor.activations = 10 * kMiB;
  planned.executor.workspace = 7 * kMiB;
  planned.input_slots = 2 * kMiB;
  MemoryLimits limits = limits_of(100 * kMiB);
  EXPECT_EQ(timing_memory(limits, planned).workspace, 88 * kMiB);
  EXPECT_EQ(timing_memory(limits, planned).all, 90 * kMiB);
  limits.device = MemoryLimit{.bytes = 50 * kMiB, .set_by = "free on the device"};
  EXPECT_EQ(timing_memory(limits, planned).workspace, 40 * kMiB);
  EXPECT_EQ(timing_memory(limits, planned).all, 45 * kMiB);
  EXPECT_EQ(timing_memory(limits_of(5 * kMiB), planned).workspace, 0U);
  EXPECT_EQ(timing_memory({.host = Unknown{"not told"}}, planned).workspace,
            TimingMemory().workspace);
}

TEST(TuningIdentity, ConsistsOfDeviceDriverAndLibraries) {
  const FakeSystem system;
  system.write("/proc/cpuinfo",
               "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: A processor\n"
               "stepping\t: 1\n");
  system.write("/proc/driver/nvidia/version", "NVRM version: 580.65.06\nGCC version: 12\n");
  Device gpu;
  gpu.name = "A card, sm_90, 5 bytes";
  gpu.driver = "13.0";
  gpu.library_version = "cuDNN 9.19.0";
  const TuningKey of_gpu = tuning_identity(gpu, system.files());
  EXPECT_THAT(of_gpu.subject, ElementsAre(Pair("device", "A card, sm_90, 5 bytes")));
  EXPECT_EQ(of_gpu.versions.at("driver"), "CUDA 13.0, NVRM version: 580.65.06");
  EXPECT_EQ(of_gpu.versions.at("libraries"), "cuDNN 9.19.0");
  Device cpu;
  cpu.isa = "AVX2";
  cpu.processors = {0, 1};
  const TuningKey of_cpu = tuning_identity(cpu, system.files());
  EXPECT_THAT(of_cpu.subject,
              ElementsAre(Pair("device", "A processor (family 25, model 17, stepping 1), AVX2"),
                          Pair("threads", "2")));
  EXPECT_FALSE(of_cpu.versions.contains("driver"));
}

TEST(TuningKey, IsTheSameForAllPartsOfABatch) {
  const auto backend = make_reference_backend();
  // With dropout, and with drop path.
  for (const std::string_view model : {"--model=alexnet", "--model=efficientnet_b0"}) {
    RunSettings settings =
        resolve_settings(parse({model, "--device=reference", "--batch_size=1", "--num_gpus=2"}));
    const auto key = [&](int tower) {
      settings.workload.tower = tower;
      return tuning_key(settings, build_run_graph(settings, *backend, 1), {}).subject;
    };
    EXPECT_EQ(key(0), key(1)) << model;
  }
}

Autotune autotune_of(const std::vector<std::string_view>& arguments) {
  return resolve_settings(parse(arguments)).execution.autotune;
}

TEST(Autotune, IsQuickOnAGpuByDefault) {
  EXPECT_EQ(autotune_of({"--model=lenet", "--device=cpu"}), Autotune::off);
  EXPECT_EQ(autotune_of({"--model=lenet", "--device=cpu", "--autotune=full"}), Autotune::full);
  EXPECT_EQ(autotune_of({"--model=lenet", "--device=gpu"}), Autotune::quick);
  EXPECT_EQ(autotune_of({"--model=lenet", "--device=gpu", "--autotune=off"}), Autotune::off);
  EXPECT_EQ(autotune_of({"--model=lenet", "--device=gpu", "--plan_for=sm_90", "--dump=plan"}),
            Autotune::off);
  EXPECT_THAT(usage_error([] {
                autotune_of({"--model=lenet", "--device=gpu", "--plan_for=sm_90", "--dump=plan",
                             "--autotune=quick"});
              }),
              EndsWith("cannot be combined with --plan_for=sm_90, a card that need not be present: "
                       "omit --autotune"));
}

TEST(PlanFor, RefusesToChooseTheFasterType) {
  EXPECT_THAT(usage_error([] {
                resolve_settings(parse({"--plan_for=sm_90", "--dump=plan", "--use_fp16"}));
              }),
              HasSubstr("choosing the faster type needs the GPU"));
}

}  // namespace
}  // namespace bench
