#include "kernels/runtime/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "kernels/runtime/memory.h"
#include "kernels/runtime/plan.h"
#include "kernels/runtime/test/two_layouts.h"
#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/cast.h"
#include "models/ops/embedding.h"
#include "models/ops/moving_average.h"
#include "models/ops/pool.h"

namespace bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::vector<std::string> ops_of(const LoweredGraph& lowered) {
  std::vector<std::string> ops;
  std::transform(lowered.steps.begin(), lowered.steps.end(), std::back_inserter(ops),
                 [](const Step& step) { return step.op + " " + step.implementation; });
  return ops;
}

ValueId relu(Graph& graph, const std::string& name, ValueId x) {
  return graph.add_node(kActivation, name, ActivationAttributes{ActivationKind::relu}, {x})[0];
}

TEST(Lowering, ReadsOpaqueValuesInTheLayoutOfTheirWriter) {
  const Shape input{1, 1, 4, 4};
  const PoolAttributes pool{.window = {.kernel = {2, 2}, .stride = {2, 2}}, .input = input};
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = DType::f32, .shape = input});
  const ValueId dy = graph.add_input("dy", {.dtype = DType::f32, .shape = {1, 1, 2, 2}});
  const auto pooled = graph.add_node(kMaxPool, "pool", pool, {x});
  graph.set_output("dx", graph.add_node(kMaxPoolBackward, "back", pool, {dy, pooled[1]})[0]);
  TwoLayoutBackend backend;
  backend.seconds = {{&kMaxPool, {1, 9}}, {&kMaxPoolBackward, {9, 1}}};
  const LoweredGraph lowered = lower(graph, backend, {});
  ASSERT_EQ(lowered.steps.size(), 2U);
  EXPECT_EQ(lowered.steps[0].implementation, lowered.steps[1].implementation);
}

TEST(Lowering, PutsAReorderBetweenKernelsThatDisagree) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = DType::f32, .shape = {1, 1, 4, 4}});
  const PoolAttributes pool{.window = {}, .input = {1, 1, 4, 4}};
  const ValueId y = graph.add_node(kAvgPool, "pool", pool, {x})[0];
  graph.set_output("y", relu(graph, "relu", y));
  TwoLayoutBackend backend;
  backend.seconds = {{&kAvgPool, {1, 9}}, {&kActivation, {9, 1}}};
  const LoweredGraph lowered = lower(graph, backend, {});
  EXPECT_EQ(ops_of(lowered),
            (std::vector<std::string>{"avg_pool a", "reorder a to b", "activation b"}));
  std::ostringstream text;
  text << lowered;
  EXPECT_THAT(text.str(), HasSubstr("-> (f32[1x1x4x4] b), estimated at 1000.00 ms\n"));
  EXPECT_THAT(text.str(), EndsWith("reorders: 1, estimated at 1000.00 ms of 3000.00 ms\n"));
}

/// A table with a sparse gradient, and after it a variable with a dense one.
Graph sparse_and_dense(bool is_gradient) {
  Graph graph;
  const TensorType rows{.dtype = DType::f32, .shape = {4, 3}};
  const ValueId dy = graph.add_input("dy", rows);
  const ValueId ids = graph.add_input("ids", {.dtype = DType::s32, .shape = {4}});
  const ValueId table =
      graph.add_variable("table", {.dtype = DType::f32, .shape = {9, 3}}, VariableRole::weight);
  const ValueId other = graph.add_variable("other", rows, VariableRole::weight);
  graph.set_output("read", graph.add_node(kEmbedding, "read", {}, {table, ids})[0]);
  const ValueId of_table =
      graph.add_node(kEmbeddingBackward, "back",
                     EmbeddingBackwardAttributes{.rows = 9, .sparse = true}, {dy, ids})[0];
  if (is_gradient) {
    graph.add_gradient(table, of_table);
  } else {
    graph.set_output("gradient", of_table);
  }
  graph.set_output("sum", graph.add_node(kAdd, "add", {}, {other, dy})[0]);
  graph.add_gradient(other, relu(graph, "relu", dy));
  return graph;
}

TEST(Lowering, PutsSparseGradientsLast) {
  const Graph graph = sparse_and_dense(/*is_gradient=*/true);
  TwoLayoutBackend backend;
  const LoweredGraph lowered = lower(graph, backend, {});
  ASSERT_EQ(lowered.trained.size(), 2U);
  EXPECT_EQ(lowered.buffers[lowered.trained[0].variable].name, "other");
  EXPECT_FALSE(lowered.trained[0].sparse_step.has_value());
  const std::optional<std::size_t> step = lowered.trained[1].sparse_step;
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(lowered.steps[*step].op, "embedding_backward");
}

TEST(Lowering, RefusesASparseGradientWithoutAVariable) {
  const Graph graph = sparse_and_dense(/*is_gradient=*/false);
  TwoLayoutBackend backend;
  EXPECT_THROW(lower(graph, backend, {}), InternalError);
}

// A filter is stored in f32 and used in bf16. The reorder that its reader needs anyway casts it;
// there is one for each layout in which it is read.
TEST(Lowering, CastsAVariableOnItsWayIntoTheReadersLayout) {
  Graph graph;
  const ValueId w =
      graph.add_variable("w", {.dtype = DType::f32, .shape = {1, 1, 4, 4}}, VariableRole::weight);
  const ValueId narrow = graph.add_node(kCast, "cast", CastAttributes{DType::bf16}, {w})[0];
  const PoolAttributes pool{.window = {}, .input = {1, 1, 4, 4}};
  graph.set_output("y", relu(graph, "relu", narrow));
  graph.set_output("z", graph.add_node(kAvgPool, "pool", pool, {narrow})[0]);
  TwoLayoutBackend backend;
  backend.seconds = {{&kActivation, {9, 1}}, {&kAvgPool, {1, 9}}};
  const LoweredGraph lowered = lower(graph, backend, {});
  std::size_t casts = 0;
  for (const Step& step : lowered.steps) {
    if (step.op == "cast") {
      ++casts;
      EXPECT_EQ(lowered.buffers[step.inputs[0]].value, w);
      EXPECT_EQ(lowered.buffers[step.outputs[0]].type.dtype, DType::bf16);
    }
  }
  EXPECT_EQ(casts, 2U);
  EXPECT_EQ(lowered.steps.size(), 4U);
}

/// running = average(running, batch), with or without another reader.
Graph running_average(bool read_again) {
  Graph graph;
  const TensorType vector{.dtype = DType::f32, .shape = {4}};
  const ValueId running = graph.add_variable("running", vector, VariableRole::mean);
  const ValueId batch = graph.add_input("batch", vector);
  const ValueId fresh =
      graph.add_node(kMovingAverage, "average", MovingAverageAttributes{}, {running, batch})[0];
  graph.add_update(running, fresh);
  if (read_again) {
    graph.set_output("old", relu(graph, "relu", running));
  }
  return graph;
}

TEST(Lowering, WritesAnUpdateStraightOntoItsVariable) {
  TwoLayoutBackend backend;
  const Graph graph = running_average(/*read_again=*/false);
  const LoweredGraph lowered = lower(graph, backend, {});
  ASSERT_EQ(lowered.steps.size(), 1U);
  EXPECT_EQ(lowered.steps[0].outputs[0], lowered.steps[0].inputs[0]);
}

TEST(Lowering, CopiesAnUpdateWhereTheOldValueIsReadLater) {
  TwoLayoutBackend backend;
  const Graph graph = running_average(/*read_again=*/true);
  const LoweredGraph lowered = lower(graph, backend, {});
  ASSERT_EQ(lowered.steps.size(), 3U);
  EXPECT_NE(lowered.steps[0].outputs[0], lowered.steps[0].inputs[0]);
  EXPECT_EQ(lowered.steps[2].op, "copy");
  EXPECT_EQ(lowered.steps[2].outputs[0], lowered.steps[0].inputs[0]);
}

TEST(Lowering, OrdersGradientsByTheStepThatTouchesThemLast) {
  Graph graph;
  const TensorType type{.dtype = DType::f32, .shape = {1, 1, 4, 4}};
  const ValueId dy = graph.add_input("dy", type);
  const ValueId first = graph.add_variable("first", type, VariableRole::weight);
  const ValueId second = graph.add_variable("second", type, VariableRole::weight);
  const ValueId of_second = relu(graph, "makes_second", dy);
  const ValueId read_again = relu(graph, "reads_it", of_second);
  const ValueId of_first = relu(graph, "makes_first", read_again);
  graph.set_output("y", relu(graph, "last", of_first));
  graph.add_gradient(first, read_again);
  graph.add_gradient(second, of_second);
  TwoLayoutBackend backend;
  const LoweredGraph lowered = lower(graph, backend, {});
  ASSERT_EQ(lowered.trained.size(), 2U);
  EXPECT_EQ(lowered.buffers[lowered.trained[0].variable].name, "second");
  EXPECT_EQ(lowered.trained[0].final_step, 1U);
  EXPECT_EQ(lowered.buffers[lowered.trained[1].variable].name, "first");
  EXPECT_EQ(lowered.trained[1].final_step, 2U);
}

/// A weight that is read in 16 bits.
Graph narrowed_weight(bool trained) {
  Graph graph;
  const TensorType type{.dtype = DType::f32, .shape = {1, 1, 4, 4}};
  const ValueId weight = graph.add_variable("weight", type, VariableRole::weight);
  const ValueId narrow = graph.add_node(kCast, "cast", CastAttributes{DType::bf16}, {weight})[0];
  graph.set_output("y", relu(graph, "relu", narrow));
  if (trained) {
    const ValueId dy = graph.add_input("dy", type);
    graph.add_gradient(weight, relu(graph, "backward", dy));
  }
  return graph;
}

TEST(Lowering, LeavesTheCastOfATrainedVariableToTheOptimizer) {
  TwoLayoutBackend backend;
  const Graph graph = narrowed_weight(/*trained=*/true);
  const LoweredGraph lowered = lower(graph, backend, {});
  ASSERT_EQ(lowered.steps.size(), 2U);
  ASSERT_EQ(lowered.refreshes.size(), 1U);
  const LoweredGraph::Trained& trained = lowered.trained.at(0);
  EXPECT_EQ(lowered.refreshes[0].inputs, std::vector{trained.variable});
  EXPECT_EQ(lowered.refreshes[0].outputs, std::vector{trained.copies.at(0).buffer});
  EXPECT_EQ(lowered.steps[0].inputs, std::vector{trained.copies.at(0).buffer});
  EXPECT_EQ(lowered.buffers[trained.copies[0].buffer].region, Buffer::Region::copy);
  std::ostringstream text;
  text << lowered;
  EXPECT_THAT(text.str(), HasSubstr("\ncopy weight: a to bf16 a, by the optimizer\n"));
  const MemoryReport memory = lay_out_memory(lowered, {}, {}).report;
  EXPECT_EQ(memory.copies, 64U);
}

TEST(Lowering, CastsAVariableThatIsNotTrainedInEveryRun) {
  TwoLayoutBackend backend;
  const Graph graph = narrowed_weight(/*trained=*/false);
  const LoweredGraph lowered = lower(graph, backend, {});
  ASSERT_EQ(lowered.steps.size(), 2U);
  EXPECT_EQ(lowered.steps[0].op, "cast");
  EXPECT_TRUE(lowered.refreshes.empty());
}

// The optimizer traverses a variable in memory order.
TEST(Lowering, CastsATrainedVariableThatIsReadInAnotherLayoutInEveryRun) {
  TwoLayoutBackend backend;
  const Graph graph = narrowed_weight(/*trained=*/true);
  const LoweringOptions free;
  Choices choices = choose(graph, backend, free).choices;
  choices.held["weight"] = Layout("a");
  choices.nodes["relu"].inputs = choices.nodes["relu"].outputs = {Layout("b")};
  choices.nodes["relu"].implementation = "b";
  choices.nodes["cast"].outputs = {Layout("b")};
  const LoweredGraph lowered =
      lower(graph, backend, {.format = DataFormat::automatic, .pinned = &choices, .tuner = {}});
  EXPECT_EQ(lowered.steps[0].op, "cast");
  EXPECT_TRUE(lowered.refreshes.empty());
  EXPECT_TRUE(lowered.trained.at(0).copies.empty());
}

/// x -> a -> b -> c, each of which may overwrite its input.
Graph graph_of_chain() {
  Graph graph;
  ValueId x = graph.add_input("x", {.dtype = DType::f32, .shape = {1, 1, 32, 32}});
  for (const char* name : {"a", "b", "c"}) {
    x = relu(graph, name, x);
  }
  graph.set_output("c", x);
  return graph;
}
LoweredGraph chain(TwoLayoutBackend& backend) { return lower(graph_of_chain(), backend, {}); }

TEST(MemoryLayout, ReusesTheMemoryOfAnInputThatEndsThere) {
  TwoLayoutBackend backend;
  const LoweredGraph lowered = chain(backend);
  const MemoryLayout layout = lay_out_memory(lowered, {lowered.steps[2].outputs[0]}, {});
  EXPECT_EQ(layout.report.activations, sizeof(float) * 32 * 32);
}

TEST(MemoryLayout, SparesAnInputThatIsKept) {
  TwoLayoutBackend backend;
  const LoweredGraph lowered = chain(backend);
  const std::size_t kept = lowered.steps[0].outputs[0];
  const MemoryLayout layout = lay_out_memory(lowered, {kept, lowered.steps[2].outputs[0]}, {});
  EXPECT_EQ(layout.report.activations, sizeof(float) * 2 * 32 * 32);
  EXPECT_NE(layout.offsets[kept], layout.offsets[lowered.steps[1].outputs[0]]);
}

TEST(Plan, LaunchesNothingForAStepThatIsIdleInPlace) {
  TwoLayoutBackend backend;
  EXPECT_EQ(launches_of(Plan(graph_of_chain(), backend, {}).lowered), 3);
  backend.idle_in_place = true;
  // The first one reads an input, which must not be overwritten.
  const Plan plan(graph_of_chain(), backend, {});
  EXPECT_EQ(launches_of(plan.lowered), 1);
  EXPECT_EQ(plan.lowered.steps[0].launches, 1);
  EXPECT_GT(plan.lowered.steps[0].work.bytes, 0);
  EXPECT_EQ(plan.lowered.steps[1].work.bytes, 0);
}

}  // namespace
}  // namespace bench
