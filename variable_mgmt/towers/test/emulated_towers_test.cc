// Several towers on the emulated GPU leave the same bits with every schedule.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "kernels/gpu_provider.h"
#include "variable_mgmt/strategies/test/joined_towers.h"
#include "variable_mgmt/world/test/processes.h"

namespace bench {
namespace {

constexpr std::uint64_t kAtOnce = 1;
/// The first seed that draws a random schedule.
constexpr std::uint64_t kFirstSeed = 2;
constexpr std::uint64_t kSeeds = 20;
constexpr std::uint64_t kFewSeeds = 5;

/// Opens the emulated GPUs' library, which reads its environment once.
class EmulatedTowers : public testing::Test {
 protected:
  EmulatedTowers() {
    setenv("BENCH_GPU_LIBRARY", EMULATED_GPU_LIBRARY, 1);
    setenv("BENCH_NCCL_LIBRARY", EMULATED_GPU_LIBRARY, 1);
    setenv("FAKE_NCCL", "", 1);
    setenv("EMULATED_GPUS", "4", 1);
    open_gpu_provider();
    void* const library = dlopen(EMULATED_GPU_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    check(library != nullptr, "the emulated GPUs' library is not open");
    // NOLINTBEGIN(*-reinterpret-cast)
    schedule_ =
        reinterpret_cast<void (*)(unsigned long long)>(dlsym(library, "emulated_gpu_schedule"));
    peer_access_ = reinterpret_cast<void (*)(bool)>(dlsym(library, "emulated_gpu_peer_access"));
    // NOLINTEND(*-reinterpret-cast)
    let_peers_reach(true);
  }

  /// Sets whether the cards can read each other's memory.
  void let_peers_reach(bool possible) const { peer_access_(possible); }

  /// Runs all towers on one card, or with NCCL each on a separate card.
  JoinedResult run(const JoinedRun& same, std::uint64_t seed) const {
    return run_on(same, seed, same.settings.sums.spec.empty());
  }

  JoinedResult run_on(JoinedRun run, std::uint64_t seed, bool one_card) const {
    schedule_(seed);
    run.backend = [one_card](int tower) {
      return open_gpu_provider().make_backend(one_card ? 0 : static_cast<std::size_t>(tower), {});
    };
    return run_joined(run);
  }

  /// The message of a run that fails; empty for one that does not.
  std::string error_of(const JoinedRun& failing) const {
    try {
      run(failing, kFirstSeed);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "";
  }

  void expect_same_bits(const JoinedRun& same, std::uint64_t seeds) const {
    const JoinedResult plain = run(same, kAtOnce);
    EXPECT_GT(largest_difference(plain.variables.front(),
                                 run(without_steps(same), kAtOnce).variables.front()),
              1e-3)
        << same.strategy << ": nothing was trained";
    for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + seeds; ++seed) {
      const JoinedResult drawn = run(same, seed);
      EXPECT_EQ(drawn.variables, plain.variables) << same.strategy << ", seed " << seed;
      EXPECT_EQ(drawn.losses, plain.losses) << same.strategy << ", seed " << seed;
    }
    EXPECT_EQ(run(same, 0).variables, plain.variables)
        << same.strategy << ", only what is waited for";
  }

 private:
  static JoinedRun without_steps(JoinedRun run) {
    run.steps = 0;
    return run;
  }

  void (*schedule_)(unsigned long long) = nullptr;
  void (*peer_access_)(bool) = nullptr;
};

JoinedRun run_of(const char* strategy, int towers) {
  return {.strategy = strategy,
          .settings = {.optimizer = {.rule = MomentumRule{},
                                     .weight_decay = 0.01,
                                     .dtype = DType::f32}},
          .towers = towers,
          .steps = 2,
          .backend = {}};
}

TEST_F(EmulatedTowers, LeaveTheSameBitsUnderEverySchedule) {
  expect_same_bits(run_of("replicated", 4), kSeeds);
  expect_same_bits(run_of("parameter_server", 4), kSeeds);
  expect_same_bits(run_of("independent", 4), kFewSeeds);
}

TEST_F(EmulatedTowers, LeaveTheSameBitsByCopiesBetweenCardsAndThroughTheHost) {
  for (const bool one_holder : {false, true}) {
    JoinedRun shared = run_of("parameter_server", 4);
    shared.settings.one_holder = one_holder;
    let_peers_reach(false);
    const JoinedResult by_host = run_on(shared, kAtOnce, false);
    EXPECT_EQ(by_host.why_not_recorded, "the gradients of several towers are reduced on the host");
    let_peers_reach(true);
    for (std::uint64_t seed = 0; seed < kFirstSeed + kSeeds; ++seed) {
      const JoinedResult by_peers = run_on(shared, seed, false);
      EXPECT_EQ(by_peers.why_not_recorded,
                "several towers synchronize on the host between device-to-device copies");
      EXPECT_EQ(by_peers.variables, by_host.variables) << one_holder << ", seed " << seed;
      EXPECT_EQ(by_peers.losses, by_host.losses) << one_holder << ", seed " << seed;
    }
  }
}

TEST_F(EmulatedTowers, LeaveTheSameBitsInSmallBuckets) {
  JoinedRun small = run_of("replicated", 2);
  small.settings.sums.buckets = {.bytes = 64, .first_bytes = 16};
  expect_same_bits(small, kFewSeeds);
}

JoinedRun by_nccl(int towers) {
  JoinedRun run = run_of("replicated", towers);
  run.settings.sums.spec = parse_all_reduce_spec("nccl");
  return run;
}

TEST_F(EmulatedTowers, LeaveTheSameBitsUnderEveryScheduleByNccl) {
  expect_same_bits(by_nccl(4), kSeeds);
}

TEST_F(EmulatedTowers, UpdateByNcclAsOneDeviceDoes) {
  for (const GradientReduction reduction : {GradientReduction::mean, GradientReduction::sum}) {
    for (const int towers : {1, 2, 3, 4}) {
      JoinedRun many = by_nccl(towers);
      many.reduction = reduction;
      JoinedRun one = run_of("independent", 1);
      const int times = reduction == GradientReduction::sum ? towers : 1;
      one.settings.optimizer.weight_decay *= times;
      one.gradient_factor = times;
      const JoinedResult joined = run(many, kFirstSeed);
      const JoinedResult alone = run(one, kFirstSeed);
      for (const VariableValues& variables : joined.variables) {
        EXPECT_LE(largest_difference(variables, alone.variables.front()), 1e-5) << towers;
        EXPECT_EQ(variables, joined.variables.front()) << towers;
      }
    }
  }
}

TEST_F(EmulatedTowers, UpdateByNcclInSeveralProcessesAsInOne) {
  const JoinedResult one = run(by_nccl(4), kFirstSeed);
  for (const int processes : {2, 4}) {
    FakeNetwork network(processes);
    std::vector<JoinedResult> results(static_cast<std::size_t>(processes));
    const auto errors = run_processes(network, [&](World& world) {
      JoinedRun own = by_nccl(4 / processes);
      own.world = &world;
      own.backend = [first = own.towers_before()](int tower) {
        return open_gpu_provider().make_backend(static_cast<std::size_t>(first + tower), {});
      };
      results[static_cast<std::size_t>(world.rank())] = run_joined(own);
    });
    EXPECT_THAT(errors, testing::Each(""));
    for (const JoinedResult& result : results) {
      for (const VariableValues& variables : result.variables) {
        EXPECT_EQ(variables, one.variables.front()) << processes;
      }
    }
  }
}

TEST_F(EmulatedTowers, LeaveTheSameBitsByNcclInEveryPacking) {
  const JoinedResult plain = run(by_nccl(4), kFirstSeed);
  for (const bool overlap : {true, false}) {
    JoinedRun cut = by_nccl(4);
    cut.settings.sums.buckets = {.bytes = 64, .first_bytes = 16};
    cut.settings.sums.overlap = overlap;
    EXPECT_EQ(run(cut, kFirstSeed).variables, plain.variables) << overlap;
  }
}

TEST_F(EmulatedTowers, LeaveTheSameBitsWhereGradientsAreSentIn16Bits) {
  for (JoinedRun narrow : {run_of("replicated", 4), by_nccl(4)}) {
    narrow.settings.sums.narrow = DType::bf16;
    expect_same_bits(narrow, kFewSeeds);
    // Use pieces that begin at unaligned places.
    narrow.settings.sums.packs = 7;
    expect_same_bits(narrow, kFewSeeds);
  }
}

TEST_F(EmulatedTowers, EndWithTheCauseWhereNcclFails) {
  using testing::HasSubstr;
  using testing::MatchesRegex;
  struct Fault {
    const char* name;
    std::chrono::milliseconds timeout;
    testing::Matcher<std::string> told;
  };
  // On a busy machine a tower may arrive after the deadline; cases that do not test it have more
  // time.
  const testing::Matcher<std::string> late = MatchesRegex(
      "tower [012]: a step that reduces gradients with NCCL missed its deadline.* (every tower has "
      "arrived|has not arrived)");
  const std::chrono::milliseconds soon(700);
  const std::chrono::hours unheeded(1);
  for (const Fault& fault :
       {Fault{"never:0", soon, late}, Fault{"never:1", soon, late},
        Fault{"error:1", unheeded,
              HasSubstr(
                  "tower 1: an asynchronous NCCL operation: unhandled cuda error (NCCL status 1)")},
        Fault{"lost:1", unheeded,
              MatchesRegex("tower [02]: an asynchronous NCCL operation: remote process exited.*")},
        Fault{"init_never", soon,
              MatchesRegex("tower [012]: NCCL is not connected after 700 ms.*")}}) {
    setenv("FAKE_NCCL", fault.name, 1);
    JoinedRun failing = by_nccl(3);
    failing.settings.sums.nccl_timeout = fault.timeout;
    std::string told = error_of(failing);
    // Connecting has the same deadline and can miss it on a busy machine.
    while (fault.name != std::string_view("init_never") &&
           told.find("is not connected") != std::string::npos) {
      failing.settings.sums.nccl_timeout *= 2;
      told = error_of(failing);
    }
    EXPECT_THAT(told, fault.told) << fault.name;
  }
  setenv("FAKE_NCCL", "", 1);
  // The device remains usable after these failures.
  run(by_nccl(3), kFirstSeed);
}

}  // namespace
}  // namespace bench
