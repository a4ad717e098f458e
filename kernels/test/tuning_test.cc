#include <gtest/gtest.h>

#include <vector>

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
