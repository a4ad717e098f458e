#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "kernels/forwarding_backend.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/runtime/candidate_timer.h"
#include "kernels/test/far_device.h"
#include "kernels/test/several_ways.h"
#include "kernels/test/tuning_suite.h"
#include "models/ops/activation.h"

namespace bench {
namespace {

/// The settled time of samples in this order, and the number of samples taken.
struct Settled {
  double seconds = 0;
  std::size_t samples = 0;
};

Settled settled(const std::vector<double>& samples) {
  Settled result;
  result.seconds = settled_seconds([&] { return samples.at(result.samples++); });
  return result;
}

TEST(SettledSeconds, IsTheMedianOfThreeThatAgree) {
  const Settled steady = settled({100, 10.4, 10.2, 10});
  EXPECT_EQ(steady.seconds, 10.2);
  EXPECT_EQ(steady.samples, 4U);
  const Settled late = settled({100, 20, 15, 10, 10.1, 9.9});
  EXPECT_EQ(late.seconds, 10);
  EXPECT_EQ(late.samples, 6U);
}

TEST(SettledSeconds, IsTheMedianOfTenThatDisagree) {
  const Settled unsteady = settled({100, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512});
  EXPECT_EQ(unsteady.seconds, 24);
  EXPECT_EQ(unsteady.samples, 11U);
}

TEST(SettledSeconds, TakesNothingForAgreement) { EXPECT_EQ(settled({0, 0, 0, 0}).seconds, 0); }

TEST(CandidateTimer, SkipsKernelsThatRunOutOfMemory) {
  constexpr std::size_t kMebi = std::size_t{1} << 20U;
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = DType::f32, .shape = {2, 3}});
  graph.set_output(
      "y", graph.add_node(kActivation, "relu", ActivationAttributes{ActivationKind::relu}, {x})[0]);
  KernelClock clock;
  SeveralWaysBackend backend(
      make_far_backend(make_reference_backend(), {.memory_bytes = 4 * kMebi}),
      {{.name = "small", .seconds = 2}, {.name = "large", .workspace_bytes = 5 * kMebi}}, clock);
  ClockTimer timer(clock);
  CandidateTimer candidates(backend, timer, {.all = 8 * kMebi}, {});
  const Node& node = graph.nodes()[0];
  const auto ways = backend.candidates(graph, node, DataFormat::nchw);
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_EQ(candidates.seconds(graph, node, ways[0]), 2);
  EXPECT_EQ(candidates.seconds(graph, node, ways[1]), std::nullopt);
  EXPECT_EQ(candidates.counts().too_large, 1);
}

/// A backend with three host threads. `run_by` counts the parts of each.
class ThreeThreadsBackend final : public ForwardingBackend {
 public:
  explicit ThreeThreadsBackend(Backend& inner) : ForwardingBackend(inner) {}

  HostThreads host_threads() override {
    return {.count = 3, .run = [this](const std::function<void(int thread)>& part) {
              for (int thread = 0; thread < 3; ++thread) {
                part(thread);
                ++run_by[thread];
              }
            }};
  }

  std::map<int, int> run_by;
};

TEST(CandidateTimer, EmptiesTheCachesOnAllThreadsBeforeEachLaunch) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = DType::f32, .shape = {2, 3}});
  graph.set_output(
      "y", graph.add_node(kActivation, "relu", ActivationAttributes{ActivationKind::relu}, {x})[0]);
  KernelClock clock;
  SeveralWaysBackend backend(make_reference_backend(), {{.name = "only", .seconds = 2}}, clock);
  ThreeThreadsBackend threads(backend);
  std::vector<int> emptied;
  backend.look = [&](Stream&, std::span<const TensorView>) {
    emptied.push_back(threads.run_by[2]);
  };
  ClockTimer timer(clock);
  CandidateTimer candidates(threads, timer, {}, {});
  const Node& node = graph.nodes()[0];
  ASSERT_TRUE(
      candidates.seconds(graph, node, threads.candidates(graph, node, DataFormat::nchw)[0]));
  EXPECT_EQ(threads.run_by[0], threads.run_by[2]);
  EXPECT_EQ(threads.run_by[1], threads.run_by[2]);
  ASSERT_GE(emptied.size(), 3U);
  for (std::size_t i = 1; i < emptied.size(); ++i) {
    EXPECT_EQ(emptied[i], emptied[i - 1] + 1);
  }
}

std::vector<TunedDevice> devices() {
  return {{.name = "reference", .make = make_reference_backend},
          {.name = "far", .make = [] {
             return make_far_backend(make_reference_backend(),
                                     {.kind = FarSchedule::Kind::deferred});
           }}};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Devices, Tuning, testing::ValuesIn(devices()), tuned_device_name);

}  // namespace bench
