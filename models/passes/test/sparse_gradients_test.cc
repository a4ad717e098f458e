#include "models/passes/sparse_gradients.h"

#include <gtest/gtest.h>

#include "models/ops/add.h"
#include "models/ops/embedding.h"

namespace bench {
namespace {

/// A table, and the gradients of what was read from it.
class MarkSparseGradients : public testing::Test {
 protected:
  ValueId input(const std::string& name, const TensorType& type) {
    return graph_.add_input(name, type);
  }
  ValueId backward(const std::string& name, ValueId ids) {
    const ValueId dy = input(name + "_dy", {.shape = {4, 3}});
    return graph_.add_node(kEmbeddingBackward, name, EmbeddingBackwardAttributes{.rows = 10},
                           {dy, ids})[0];
  }
  /// True if all gradients of tables in the graph are marked; false if none is.
  [[nodiscard]] bool marked() const {
    const Graph result = mark_sparse_gradients(graph_);
    int sparse = 0;
    int all = 0;
    for (const Node& node : result.nodes()) {
      if (node.op == &kEmbeddingBackward) {
        const auto attributes = node.attributes.as<EmbeddingBackwardAttributes>();
        EXPECT_EQ(attributes.rows, 10);
        sparse += attributes.sparse ? 1 : 0;
        ++all;
      }
    }
    EXPECT_GT(all, 0);
    EXPECT_TRUE(sparse == 0 || sparse == all);
    return sparse > 0;
  }

  Graph graph_;
  const ValueId table_ = graph_.add_variable("table", {.shape = {10, 3}}, VariableRole::weight);
  const TensorType ids_ = {.dtype = DType::s32, .shape = {4}};
};

TEST_F(MarkSparseGradients, MarksTheGradientOfATable) {
  graph_.add_gradient(table_, backward("read", input("ids", ids_)));
  EXPECT_TRUE(marked());
}

TEST_F(MarkSparseGradients, LeavesATableThatIsReadTwice) {
  const ValueId ids = input("ids", ids_);
  graph_.add_gradient(
      table_, graph_.add_node(kAdd, "sum", {}, {backward("a", ids), backward("b", ids)})[0]);
  EXPECT_FALSE(marked());
}

TEST_F(MarkSparseGradients, LeavesAGradientThatSomethingElseReads) {
  const ValueId gradient = backward("read", input("ids", ids_));
  graph_.add_gradient(table_, gradient);
  graph_.set_output("gradient", gradient);
  EXPECT_FALSE(marked());
}

}  // namespace
}  // namespace bench
