// What timing candidates chooses and takes, on any device: the times are a clock's that only the
// kernels move.

#include "kernels/test/tuning_suite.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "kernels/runtime/candidate_timer.h"
#include "kernels/runtime/lowering.h"
#include "kernels/test/several_ways.h"
#include "models/ops/activation.h"
#include "models/ops/conv2d.h"
#include "models/ops/loss.h"

namespace bench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;

constexpr std::size_t kMemory = std::size_t{8} << 20U;
constexpr std::size_t kMebi = std::size_t{1} << 20U;

/// Two equal convolutions, one after the other.
Graph two_convolutions() {
  Graph graph;
  const TensorType type{.dtype = DType::f32, .shape = {2, 3, 6, 6}};
  const TensorType filter{.dtype = DType::f32, .shape = {3, 3, 3, 3}};
  const Conv2dAttributes same{
      .window = {.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}}};
  const ValueId w1 = graph.add_variable("w1", filter, VariableRole::weight);
  const ValueId w2 = graph.add_variable("w2", filter, VariableRole::weight);
  ValueId x = graph.add_input("x", type);
  x = graph.add_node(kConv2d, "conv1", same, {x, w1})[0];
  x = graph.add_node(kConv2d, "conv2", same, {x, w2})[0];
  graph.set_output("y", x);
  return graph;
}

/// The ways in which a graph's nodes run that is tuned.
class Tuned {
 public:
  Tuned(const TunedDevice& device, std::vector<Way> ways)
      : backend(device.make(), std::move(ways), clock) {}

  std::vector<std::string> ways_of(const Graph& graph, const LoweringOptions& options = {}) {
    CandidateTimer timer(backend, clock_timer, memory, watch);
    LoweringOptions tuning = options;
    tuning.format = DataFormat::nchw;
    tuning.tuner.seconds = [&](const Graph& around, const Node& node, const Candidate& candidate) {
      return timer.seconds(around, node, candidate);
    };
    std::vector<std::string> found;
    for (const auto& [name, choice] : lower(graph, backend, tuning).choices.nodes) {
      found.push_back(choice.implementation);
    }
    counts = timer.counts();
    return found;
  }

  KernelClock clock;
  SeveralWaysBackend backend;
  ClockTimer clock_timer{clock};
  TimingMemory memory{.all = kMemory};
  Watch watch;
  CandidateTimer::Counts counts;
};

TEST_P(Tuning, ChoosesTheFastestAndTimesEqualNodesOnce) {
  Tuned tuned(GetParam(), {{.name = "slow", .seconds = 3},
                           {.name = "fast", .seconds = 1},
                           {.name = "middling", .seconds = 2}});
  EXPECT_THAT(tuned.ways_of(two_convolutions()), Each(EndsWith(":fast")));
  EXPECT_EQ(tuned.counts.timed, 3);
  // A warm-up and three samples that agree.
  EXPECT_EQ(tuned.clock.launches, 3 * 4);
}

TEST_P(Tuning, LeavesTiesToTheEstimates) {
  Tuned tuned(GetParam(),
              {{.name = "preferred", .seconds = 1.019}, {.name = "other", .seconds = 1}});
  EXPECT_THAT(tuned.ways_of(two_convolutions()), Each(EndsWith(":preferred")));
  Tuned clear(GetParam(),
              {{.name = "preferred", .seconds = 1.03}, {.name = "other", .seconds = 1}});
  EXPECT_THAT(clear.ways_of(two_convolutions()), Each(EndsWith(":other")));
}

TEST_P(Tuning, SkipsWorkspacesBeyondTheBudget) {
  Tuned tuned(GetParam(), {{.name = "slow", .seconds = 3},
                           {.name = "fast", .seconds = 1, .workspace_bytes = 2 * kMebi}});
  tuned.memory.workspace = 2 * kMebi - 1;
  EXPECT_THAT(tuned.ways_of(two_convolutions()), Each(EndsWith(":slow")));
  EXPECT_EQ(tuned.counts.too_large, 1);
  EXPECT_EQ(tuned.counts.timed, 1);
  tuned.memory.workspace = 4 * kMebi;
  EXPECT_THAT(tuned.ways_of(two_convolutions()), Each(EndsWith(":fast")));
}

TEST_P(Tuning, StaysWithinTheDevicesMemory) {
  Tuned tuned(GetParam(), {{.name = "slow", .seconds = 3},
                           {.name = "fast", .seconds = 1, .workspace_bytes = kMemory - kMebi}});
  EXPECT_THAT(tuned.ways_of(two_convolutions()), Each(EndsWith(":slow")));
  EXPECT_EQ(tuned.counts.too_large, 1);
}

TEST_P(Tuning, SkipsKernelsThatTheDeviceRefuses) {
  Tuned tuned(GetParam(),
              {{.name = "slow", .seconds = 3}, {.name = "fast", .seconds = 1, .refused = true}});
  EXPECT_THAT(tuned.ways_of(two_convolutions()), Each(EndsWith(":slow")));
  EXPECT_EQ(tuned.counts.refused, 1);
}

TEST_P(Tuning, SkipsAndNamesKernelsThatFail) {
  Tuned tuned(GetParam(),
              {{.name = "slow", .seconds = 3}, {.name = "fast", .seconds = 1, .fails = true}});
  EXPECT_THAT(tuned.ways_of(two_convolutions()), Each(EndsWith(":slow")));
  EXPECT_THAT(tuned.counts.failed, ElementsAre(EndsWith(":fast: the launch failed")));
}

TEST_P(Tuning, SkipsKernelsThatDoNotRepeatOnRequest) {
  Tuned tuned(GetParam(), {{.name = "slow", .seconds = 3},
                           {.name = "fast", .seconds = 1, .deterministic = false},
                           {.name = "middling", .seconds = 2}});
  EXPECT_THAT(tuned.ways_of(two_convolutions()), Each(EndsWith(":fast")));
  EXPECT_THAT(tuned.ways_of(two_convolutions(), {.deterministic = true}),
              Each(EndsWith(":middling")));
  EXPECT_EQ(tuned.counts.timed, 2);
}

TEST_P(Tuning, EndsBetweenTwoLaunches) {
  struct Ended : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  Tuned tuned(GetParam(), {{.name = "slow", .seconds = 3}, {.name = "fast", .seconds = 1}});
  tuned.watch = [&](std::int64_t, std::int64_t) {
    if (tuned.clock.launches == 2) {
      throw Ended("by the user");
    }
  };
  EXPECT_THROW(tuned.ways_of(two_convolutions()), Ended);
  EXPECT_EQ(tuned.clock.launches, 2);
}

TEST_P(Tuning, GivesKernelsValidInputs) {
  Graph graph;
  const ValueId logits = graph.add_input("logits", {.dtype = DType::f32, .shape = {5, 7}});
  const ValueId labels = graph.add_input("labels", {.dtype = DType::s32, .shape = {5}});
  graph.set_output("loss", graph.add_node(kSoftmaxCrossEntropy, "loss",
                                          SoftmaxCrossEntropyAttributes{}, {logits, labels})[0]);
  Tuned tuned(GetParam(), {{.name = "slow", .seconds = 3}, {.name = "fast", .seconds = 1}});
  std::set<float> seen;
  std::set<std::int32_t> seen_labels;
  tuned.backend.look = [&](Stream& stream, std::span<const TensorView> inputs) {
    std::vector<float> numbers(inputs[0].bytes / sizeof(float));
    std::vector<std::int32_t> whole(inputs[1].bytes / sizeof(std::int32_t));
    stream.download(inputs[0].data, std::as_writable_bytes(std::span(numbers)));
    stream.download(inputs[1].data, std::as_writable_bytes(std::span(whole)));
    stream.synchronize();
    seen.insert(numbers.begin(), numbers.end());
    seen_labels.insert(whole.begin(), whole.end());
  };
  EXPECT_THAT(tuned.ways_of(graph), Each(EndsWith(":fast")));
  EXPECT_EQ(seen.size(), 5 * 7);
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](float n) { return n >= -1 && n < 1; }));
  EXPECT_THAT(seen_labels, ElementsAre(0));
}

TEST_P(Tuning, TimesByTheDevicesEvents) {
  const auto backend = GetParam().make();
  const auto stream = backend->make_stream();
  const auto memory = backend->allocate(kMebi);
  const auto timer = make_event_timer(*backend);
  std::vector<std::byte> read(kMebi);
  const double seconds =
      timer->seconds(*stream, [&] { stream->fill(memory->data(), std::byte{7}, read.size()); });
  EXPECT_GT(seconds, 0);
  stream->download(memory->data(), read);
  stream->synchronize();
  EXPECT_EQ(std::count(read.begin(), read.end(), std::byte{7}),
            static_cast<std::ptrdiff_t>(read.size()));
}

}  // namespace
}  // namespace bench
