#include "models/passes/gather_averages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/ops/activation.h"
#include "models/ops/moving_average.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GatherMovingAverages : public ::testing::Test {
 protected:
  ValueId variable(const std::string& name, std::int64_t channels) {
    return graph_.add_variable(name, {.shape = {channels}}, VariableRole::mean);
  }
  ValueId average(ValueId running, ValueId batch, double decay) {
    return graph_.add_node(kMovingAverage, graph_.value(running).name + "/average",
                           MovingAverageAttributes{{{.decay = decay}}}, {running, batch})[0];
  }
  /// A variable that takes in a batch's value.
  void averaged(const std::string& name, std::int64_t channels, double decay) {
    const ValueId running = variable(name, channels);
    const ValueId batch = graph_.add_input(name + "_batch", {.shape = {channels}});
    graph_.add_update(running, average(running, batch, decay));
  }
  static std::vector<const Node*> averages_of(const Graph& graph) {
    std::vector<const Node*> found;
    for (const Node& node : graph.nodes()) {
      if (node.op == &kMovingAverage) {
        found.push_back(&node);
      }
    }
    return found;
  }

  Graph graph_;
};

TEST_F(GatherMovingAverages, UpdatesAllByOneNodeInTheirOrder) {
  averaged("mean", 8, 0.9);
  averaged("variance", 5, 0.5);
  const Graph gathered = gather_moving_averages(graph_);
  const auto averages = averages_of(gathered);
  ASSERT_EQ(averages.size(), 1U);
  EXPECT_THAT(averages[0]->attributes.as<MovingAverageAttributes>().pairs,
              ElementsAre(Averaging{.decay = 0.9}, Averaging{.decay = 0.5}));
  std::vector<std::string> inputs;
  std::transform(averages[0]->inputs.begin(), averages[0]->inputs.end(), std::back_inserter(inputs),
                 [&](ValueId id) { return gathered.value(id).name; });
  EXPECT_THAT(inputs, ElementsAre("mean", "mean_batch", "variance", "variance_batch"));
  ASSERT_EQ(gathered.updates().size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(gathered.updates()[i].variable, averages[0]->inputs[2 * i]);
    EXPECT_EQ(gathered.updates()[i].value, averages[0]->outputs[i]);
  }
}

TEST_F(GatherMovingAverages, KeepsAnAverageThatHasOtherReaders) {
  averaged("mean", 8, 0.9);
  const ValueId read = graph_.updates()[0].value;
  graph_.set_output("y", graph_.add_node(kActivation, "relu", ActivationAttributes{}, {read})[0]);
  averaged("variance", 8, 0.5);
  const Graph gathered = gather_moving_averages(graph_);
  ASSERT_EQ(averages_of(gathered).size(), 2U);
  EXPECT_EQ(averages_of(gathered)[0]->name, "mean/average");
  EXPECT_EQ(gathered.updates().size(), 2U);
}

TEST_F(GatherMovingAverages, KeepsAnAverageThatUpdatesAnotherVariable) {
  const ValueId running = variable("running", 8);
  const ValueId copy = variable("copy", 8);
  graph_.add_update(copy, average(running, graph_.add_input("batch", {.shape = {8}}), 0.9));
  const Graph gathered = gather_moving_averages(graph_);
  ASSERT_EQ(averages_of(gathered).size(), 1U);
  EXPECT_EQ(averages_of(gathered)[0]->name, "running/average");
  EXPECT_EQ(gathered.value(gathered.updates()[0].variable).name, "copy");
}

TEST_F(GatherMovingAverages, AddsNothingWhereNothingIsAveraged) {
  graph_.add_input("x", {.shape = {2}});
  EXPECT_THAT(gather_moving_averages(graph_).nodes(), IsEmpty());
}

}  // namespace
}  // namespace bench
