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

TEST(Choices, LowerAGraphAgainAsItWasWhateverIsEstimatedThen) {
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

TEST(Choices, OfAnotherNetworkAreRefused) {
  const Graph graph = example();
  TwoLayoutBackend backend;
  const Choices whole = lower(graph, backend, {}).choices;
  Choices pinned = whole;
  pinned.nodes.erase("relu");
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices are of another network: they do not know relu");
  pinned = whole;
  pinned.held.clear();
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices are of another network: they do not know w");
  pinned = whole;
  pinned.nodes["more"] = pinned.nodes["relu"];
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices are of another network: it does not have more");
  pinned = whole;
  pinned.held["x"] = Layout("a");
  EXPECT_EQ(refusal(graph, backend, pinned),
            "the choices are of another network: it does not have x");
}

TEST(Choices, OfAnotherDeviceAreRefused) {
  const Graph graph = example();
  TwoLayoutBackend backend;
  Choices pinned = lower(graph, backend, {}).choices;
  pinned.nodes.at("pool").implementation = cat("c");
  EXPECT_THAT(refusal(graph, backend, pinned),
              HasSubstr("pool: this device or version has no kernel c for"));
  pinned = lower(graph, backend, {}).choices;
  pinned.held.at("w") = Layout("c");
  EXPECT_THAT(refusal(graph, backend, pinned),
              HasSubstr("w: no kernel of this device or version takes it in c"));
}

/// Runs what it runs in two ways per layout, the estimates preferring the first.
class TwoWaysBackend final : public TwoLayoutBackend {
 public:
  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> both;
    for (const Candidate& candidate : TwoLayoutBackend::candidates(graph, node, format)) {
      for (const char* way : {" first", " second"}) {
        both.push_back(candidate);
        both.back().implementation += way;
      }
      both.back().seconds *= 2;
    }
    return both;
  }
};

TEST(Tuner, DecidesAmongThoseOfTheChosenLayouts) {
  const Graph graph = example();
  TwoWaysBackend backend;
  backend.seconds = {{&kAvgPool, {9, 1}}, {&kActivation, {9, 1}}};
  std::vector<std::string> asked;
  const Tuner tuner = [&](const Graph&, const Node& node, const Candidate& candidate) {
    asked.push_back(cat(node.name, " ", candidate.implementation));
    return node.name == "relu" && candidate.implementation == "b second" ? 1.0 : 2.0;
  };
  const LoweredGraph lowered = lower(graph, backend, {.tuner = tuner});
  EXPECT_THAT(implementations(lowered), ElementsAre("b first", "b second"));
  EXPECT_THAT(asked, ElementsAre("pool b first", "pool b second", "relu b first", "relu b second"));
  EXPECT_EQ(lowered.choices.nodes.at("relu").implementation, "b second");
}

TEST(Tuner, IsNotAskedWhereThereIsNothingToDecide) {
  const Graph graph = example();
  std::vector<std::string> asked;
  const Tuner tuner = [&](const Graph&, const Node& node, const Candidate&) {
    asked.push_back(node.name);
    return 1.0;
  };
  TwoLayoutBackend one_way;
  lower(graph, one_way, {.tuner = tuner});
  TwoWaysBackend two_ways;
  const Choices pinned = lower(graph, two_ways, {}).choices;
  lower(graph, two_ways, {.pinned = &pinned, .tuner = tuner});
  EXPECT_THAT(asked, IsEmpty());
}

}  // namespace
}  // namespace bench
