#include "models/passes/rewrite.h"

#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"

namespace bench {
namespace {

Graph example() {
  Graph graph;
  const ValueId x = graph.add_input("x", {.shape = {2, 3}});
  const ValueId w = graph.add_variable("w", {.shape = {2, 3}}, VariableRole::scale, {.mean = 2});
  const ValueId sum = graph.add_node(kAdd, "sum", {}, {x, w})[0];
  const ValueId y = graph.add_node(kActivation, "relu", ActivationAttributes{}, {sum})[0];
  graph.set_output("y", y);
  graph.add_update(w, y);
  graph.add_gradient(w, sum);
  return graph;
}

TEST(Rewrite, CopiesAGraphWhole) {
  const Graph graph = example();
  const Graph copy = rewrite(graph, append);
  EXPECT_EQ(testing::PrintToString(copy), testing::PrintToString(graph));
  EXPECT_EQ(copy.variables()[0].initial.mean, 2);
  EXPECT_EQ(copy.variables()[0].role, VariableRole::scale);
}

TEST(Rewrite, GivesReadersTheReplacementOfANode) {
  const Graph graph = rewrite(example(), [](Graph& result, const Node& node) {
    if (node.op == &kActivation) {
      return node.inputs;
    }
    return append(result, node);
  });
  EXPECT_EQ(testing::PrintToString(graph),
            "input %0 x f32[2x3]\n"
            "variable %1 w f32[2x3]\n"
            "%2 f32[2x3] = add(%0, %1) {} sum\n"
            "output y = %2\n"
            "update w = %2\n"
            "gradient w = %2\n");
}

TEST(Rewrite, RefusesToDropANodeThatIsRead) {
  const auto drop = [](const OpDef& op) {
    return [&op](Graph& result, const Node& node) {
      return node.op == &op ? std::vector<ValueId>{} : append(result, node);
    };
  };
  EXPECT_THROW(rewrite(example(), drop(kAdd)), InternalError);
  EXPECT_THROW(rewrite(example(), drop(kActivation)), InternalError);
}

}  // namespace
}  // namespace bench
