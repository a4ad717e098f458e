#include "kernels/runtime/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/runtime/lowering.h"
#include "kernels/runtime/test/two_layouts.h"
#include "models/ops/activation.h"
#include "models/ops/pool.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A variable that is pooled, and a ReLU.
Graph example() {
  Graph graph;
  const TensorType type{.dtype = DType::f32, .shape = {1, 1, 4, 4}};
  const ValueId w = graph.add_variable("w", type, VariableRole::weight);
  const PoolAttributes pool{.window = {}, .input = type.shape};
  const ValueId y = graph.add_node(kAvgPool, "pool", pool, {w})[0];
  graph.set_output(
      "y", graph.add_node(kActivation, "relu", ActivationAttributes{ActivationKind::relu}, {y})[0]);
  return graph;
}

std::vector<std::string> implementations(const LoweredGraph& lowered) {
  std::vector<std::string> found;
  for (const Step& step : lowered.steps) {
    found.push_back(step.implementation);
  }
  return found;
}

std::string refusal(const Graph& graph, Backend& backend, const Choices& pinned) {
  try {
    lower(graph, backend, {.pinned = &pinned});
  } catch (const ChoicesError& error) {
    return error.what();
  }
  return "none";
}

TEST(Choices, ReproduceALoweringDespiteOtherEstimates) {
  const Graph graph = example();
  TwoLayoutBackend backend;
  backend.seconds = {{&kAvgPool, {9, 1}}, {&kActivation, {1, 9}}};
  const LoweredGraph first = lower(graph, backend, {});
  EXPECT_THAT(implementations(first), ElementsAre("b", "b to a", "a"));
  EXPECT_EQ(first.choices.held.at("w"), Layout("b"));
  backend.seconds = {{&kAvgPool, {1, 9}}, {&kActivation, {9, 1}}};
  backend.reorder = 100;
  EXPECT_THAT(implementations(lower(graph, backend, {})), ElementsAre("a", "a"));
  const LoweredGraph again = lower(graph, backend, {.pinned = &first.choices});
  EXPECT_THAT(implementations(again), ElementsAre("b", "b to a", "a"));
  EXPECT_EQ(again.choices, first.choices);
}

TEST(Choices, AreRefusedForAnotherNetwork) {
  const Graph graph = example();
  TwoLayoutBackend backend;
  const Choices whole = lower(graph, backend, {}).choices;
  Choices pinned = whole;
  pinned.nodes.erase("relu");
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices are for another network: they have no entry for relu");
  pinned = whole;
  pinned.held.clear();
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices are for another network: they have no entry for w");
  pinned = whole;
  pinned.nodes["more"] = pinned.nodes["relu"];
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices are for another network: this network has no more");
  pinned = whole;
  pinned.held["x"] = Layout("a");
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices are for another network: this network has no x");
  pinned = whole;
  pinned.nodes.at("relu").inputs.emplace_back("a");
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices are for another network: they list other inputs or outputs for relu. If "
            "they are older than fused input normalization, use --conv_prologue=false");
}

TEST(Choices, AreRefusedIfAnOpaqueValueIsReadInAnotherLayout) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = DType::f32, .shape = {1, 1, 4, 4}});
  const PoolAttributes pool{.window = {}, .input = {1, 1, 4, 4}};
  const auto pooled = graph.add_node(kMaxPool, "pool", pool, {x});
  graph.set_output("dx", graph.add_node(kMaxPoolBackward, "back", pool, {pooled[0], pooled[1]})[0]);
  TwoLayoutBackend backend;
  Choices pinned = lower(graph, backend, {}).choices;
  NodeChoice& choice = pinned.nodes.at("back");
  ASSERT_EQ(choice.implementation, "a");
  choice.implementation = "b";
  choice.inputs = {Layout("b"), Layout("opaque b")};
  choice.outputs = {Layout("b")};
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices contradict each other: pool:1 is written in layout opaque a and read in "
            "opaque b");
}

TEST(Choices, AreRefusedForAnotherDevice) {
  const Graph graph = example();
  TwoLayoutBackend backend;
  Choices pinned = lower(graph, backend, {}).choices;
  pinned.nodes.at("pool").implementation = "c";
  EXPECT_THAT(refusal(graph, backend, pinned),
              HasSubstr("pool: this device or version has no kernel c for"));
  pinned = lower(graph, backend, {}).choices;
  pinned.held.at("w") = Layout("c");
  EXPECT_THAT(refusal(graph, backend, pinned),
              HasSubstr("w: no kernel of this device or version reads it in the chosen layout, c"));
}

/// Offers several ways per layout; the estimates prefer the first.
class TwoWaysBackend final : public TwoLayoutBackend {
 public:
  std::vector<std::string> ways = {" first", " second"};
  /// Keyed by way; true by default.
  std::map<std::string, bool> deterministic = {};
  /// Keyed by way: what it has in common with others; empty by default.
  std::map<std::string, std::string> groups = {};

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> all;
    for (const Candidate& candidate : TwoLayoutBackend::candidates(graph, node, format)) {
      double slower = 1;
      for (const std::string& way : ways) {
        all.push_back(candidate);
        all.back().implementation += way;
        all.back().way = groups.contains(way) ? groups.at(way) : "";
        all.back().seconds *= slower++;
        all.back().deterministic = !deterministic.contains(way) || deterministic.at(way);
      }
    }
    return all;
  }
};

/// The times of TwoWaysBackend's candidates in each layout, by node and implementation; 2 s by
/// default.
struct TimedWays {
  std::map<std::string, std::optional<double>> times;
  std::vector<std::string> asked = {};

  Tuner tuner(std::size_t most = std::numeric_limits<std::size_t>::max()) {
    return {.seconds = [this](const Graph&, const Node& node,
                              const Candidate& candidate) -> std::optional<double> {
              asked.push_back(fmt::format("{} {}", node.name, candidate.implementation));
              const auto found = times.find(asked.back());
              return found == times.end() ? 2.0 : found->second;
            },
            .most = most};
  }
};

TEST(Tuner, DecidesAmongKernelsOfTheChosenLayouts) {
  const Graph graph = example();
  TwoWaysBackend backend;
  backend.seconds = {{&kAvgPool, {9, 1}}, {&kActivation, {9, 1}}};
  TimedWays ways{.times = {{"relu b second", 1.0}}};
  const LoweredGraph lowered = lower(graph, backend, {.tuner = ways.tuner()});
  EXPECT_THAT(implementations(lowered), ElementsAre("b first", "b second"));
  EXPECT_THAT(ways.asked,
              ElementsAre("pool b first", "pool b second", "relu b first", "relu b second"));
  EXPECT_EQ(lowered.choices.nodes.at("relu").implementation, "b second");
}

TEST(Tuner, LeavesTiesToTheEstimates) {
  const Graph graph = example();
  TwoWaysBackend backend;
  backend.seconds = {{&kAvgPool, {9, 1}}, {&kActivation, {9, 1}}};
  TimedWays ways{.times = {{"pool b second", 1.97}, {"relu b second", 1.95}}};
  const LoweredGraph lowered = lower(graph, backend, {.tuner = ways.tuner()});
  EXPECT_THAT(implementations(lowered), ElementsAre("b first", "b second"));
}

TEST(Tuner, SkipsKernelsThatCannotRun) {
  const Graph graph = example();
  TwoWaysBackend backend;
  backend.seconds = {{&kAvgPool, {9, 1}}, {&kActivation, {9, 1}}};
  TimedWays ways{.times = {{"pool b first", std::nullopt},
                           {"relu b first", std::nullopt},
                           {"relu b second", std::nullopt}}};
  const LoweredGraph lowered = lower(graph, backend, {.tuner = ways.tuner()});
  EXPECT_THAT(implementations(lowered), ElementsAre("b second", "b first"));
}

TEST(Tuner, AsksAboutTheRequestedNumberOfKernels) {
  const Graph graph = example();
  TwoWaysBackend backend;
  backend.ways = {" first", " second", " third"};
  TimedWays ways;
  lower(graph, backend, {.tuner = ways.tuner(2)});
  EXPECT_THAT(ways.asked,
              ElementsAre("pool a first", "pool a second", "relu a first", "relu a second"));
  ways.asked.clear();
  lower(graph, backend, {.tuner = ways.tuner(1)});
  EXPECT_THAT(ways.asked, IsEmpty());
}

TEST(Tuner, TimesTheBestOfEachWayBeforeTheOthers) {
  const Graph graph = example();
  TwoWaysBackend backend;
  backend.ways = {" first", " second", " third", " fused", " fused too"};
  backend.groups = {{" fused", "fused"}, {" fused too", "fused"}};
  TimedWays ways{.times = {{"pool a fused", 1.0}}};
  const LoweredGraph lowered = lower(graph, backend, {.tuner = ways.tuner(3)});
  EXPECT_THAT(ways.asked, ElementsAre("pool a first", "pool a second", "pool a fused",
                                      "relu a first", "relu a second", "relu a fused"));
  EXPECT_THAT(implementations(lowered), ElementsAre("a fused", "a first"));
  ways.asked.clear();
  lower(graph, backend, {.tuner = ways.tuner(1)});
  EXPECT_THAT(ways.asked,
              ElementsAre("pool a first", "pool a fused", "relu a first", "relu a fused"));
}

TEST(Tuner, IsNotAskedWithoutAChoice) {
  const Graph graph = example();
  TimedWays ways;
  TwoLayoutBackend one_way;
  lower(graph, one_way, {.tuner = ways.tuner()});
  TwoWaysBackend two_ways;
  const Choices pinned = lower(graph, two_ways, {}).choices;
  lower(graph, two_ways, {.pinned = &pinned, .tuner = ways.tuner()});
  EXPECT_THAT(ways.asked, IsEmpty());
}

TEST(Tuner, IsNotAskedAboutNodesThatReadOpaqueValues) {
  Graph graph;
  const TensorType type{.dtype = DType::f32, .shape = {1, 1, 4, 4}};
  const ValueId x = graph.add_input("x", type);
  const PoolAttributes pool{.window = {}, .input = type.shape};
  const auto pooled = graph.add_node(kMaxPool, "pool", pool, {x});
  graph.set_output("dx", graph.add_node(kMaxPoolBackward, "back", pool, {pooled[0], pooled[1]})[0]);
  TwoWaysBackend backend;
  TimedWays ways;
  lower(graph, backend, {.tuner = ways.tuner()});
  EXPECT_THAT(ways.asked, ElementsAre("pool a first", "pool a second"));
}

/// Chooses by measured times. A pool takes 4 s in layout a, a ReLU 1 s in a and 4 s in b.
std::vector<std::string> timed_layouts(double pool_in_b, std::optional<double> reorder) {
  TwoLayoutBackend backend;
  backend.seconds = {{&kAvgPool, {1, 9}}, {&kActivation, {1, 9}}};
  LoweringOptions options;
  options.tuner.seconds = [=](const Graph&, const Node& node, const Candidate& candidate) {
    const bool pool = node.op == &kAvgPool;
    const bool b = candidate.implementation == "b";
    return std::optional<double>(pool ? (b ? pool_in_b : 4) : (b ? 4 : 1));
  };
  options.tuner.reorder_seconds = [=](const TensorType&, const Layout&, const Layout&) {
    return reorder;
  };
  return implementations(lower(example(), backend, options));
}

TEST(Tuner, ChoosesLayoutsIfItTimesReordersToo) {
  EXPECT_THAT(timed_layouts(1, 2), ElementsAre("b", "b to a", "a"));
  // One wrong time changes the plan.
  EXPECT_THAT(timed_layouts(9, 2), ElementsAre("a", "a"));
  EXPECT_THAT(timed_layouts(1, 9), ElementsAre("a", "a"));
}

TEST(Tuner, EstimatesReordersThatCannotRun) {
  // The backend's estimate is 1.
  EXPECT_THAT(timed_layouts(1, std::nullopt), ElementsAre("b", "b to a", "a"));
}

TEST(Tuner, ScalesTheEstimatesOfFarSlowerKernels) {
  TwoLayoutBackend backend;
  backend.seconds = {{&kAvgPool, {1, 11}}, {&kActivation, {1, 1}}};
  LoweringOptions options;
  std::vector<std::string> asked;
  options.tuner.seconds = [&](const Graph&, const Node& node, const Candidate& candidate) {
    asked.push_back(node.name + " " + candidate.implementation);
    return std::optional<double>(20);
  };
  options.tuner.reorder_seconds = [](const TensorType&, const Layout&, const Layout&) {
    return std::optional<double>(1);
  };
  EXPECT_THAT(implementations(lower(example(), backend, options)), ElementsAre("a", "a"));
  EXPECT_THAT(asked, testing::Not(testing::Contains("pool b")));
}

TEST(Tuner, LeavesNodesThatCannotBeTimedToTheEstimates) {
  TwoLayoutBackend backend;
  backend.seconds = {{&kAvgPool, {9, 1}}, {&kActivation, {9, 1}}};
  LoweringOptions options;
  options.tuner.seconds = [](const Graph&, const Node&, const Candidate&) {
    return std::optional<double>();
  };
  options.tuner.reorder_seconds = [](const TensorType&, const Layout&, const Layout&) {
    return std::optional<double>(1);
  };
  EXPECT_THAT(implementations(lower(example(), backend, options)), ElementsAre("b", "b"));
}

TEST(Deterministic, SkipsKernelsThatDoNotRepeatTheirBits) {
  const Graph graph = example();
  TwoWaysBackend backend;
  backend.deterministic = {{" first", false}};
  EXPECT_THAT(implementations(lower(graph, backend, {})), ElementsAre("a first", "a first"));
  EXPECT_THAT(implementations(lower(graph, backend, {.deterministic = true})),
              ElementsAre("a second", "a second"));
  TimedWays ways{.times = {{"relu a first", 1.0}}};
  EXPECT_THAT(
      implementations(lower(graph, backend, {.tuner = ways.tuner(), .deterministic = true})),
      ElementsAre("a second", "a second"));
}

TEST(Deterministic, RefusesAnOpThatHasNoOtherKernel) {
  const Graph graph = example();
  TwoWaysBackend backend;
  const Choices pinned = lower(graph, backend, {}).choices;
  backend.deterministic = {{" first", false}, {" second", false}};
  const auto refusal_of = [&](const LoweringOptions& options) -> std::string {
    try {
      lower(graph, backend, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal_of({.deterministic = true}),
            "pool: two layouts has no deterministic kernel for avg_pool");
  EXPECT_EQ(refusal_of({.pinned = &pinned, .deterministic = true}),
            "pool: the chosen kernel, a first, is not deterministic");
}

}  // namespace
}  // namespace bench
