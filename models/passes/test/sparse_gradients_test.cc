#include "models/passes/sparse_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/ops/add.h"
#include "models/ops/embedding.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Tables, and the gradients of what was read from them.
class MarkSparseGradients : public testing::Test {
 protected:
  ValueId table(const std::string& name) {
    return graph_.add_variable(name, {.shape = {10, 3}}, VariableRole::weight);
  }
  ValueId backward(const std::string& name) {
    const ValueId dy = graph_.add_input(name + "_dy", {.shape = {4, 3}});
    const ValueId ids = graph_.add_input(name + "_ids", {.dtype = DType::s32, .shape = {4}});
    return graph_.add_node(kEmbeddingBackward, name, EmbeddingBackwardAttributes{.rows = 10},
                           {dy, ids})[0];
  }
  /// The names of the marked nodes.
  [[nodiscard]] std::vector<std::string> marked() const {
    const Graph result = mark_sparse_gradients(graph_);
    EXPECT_EQ(result.nodes().size(), graph_.nodes().size());
    std::vector<std::string> names;
    for (const Node& node : result.nodes()) {
      if (node.op != &kEmbeddingBackward) {
        continue;
      }
      const auto attributes = node.attributes.as<EmbeddingBackwardAttributes>();
      EXPECT_EQ(attributes.rows, 10);
      if (attributes.sparse) {
        names.push_back(node.name);
      }
    }
    return names;
  }

  Graph graph_;
};

TEST_F(MarkSparseGradients, MarksTheGradientsOfTables) {
  graph_.add_gradient(table("a"), backward("of_a"));
  graph_.add_gradient(table("b"), backward("of_b"));
  EXPECT_THAT(marked(), ElementsAre("of_a", "of_b"));
}

TEST_F(MarkSparseGradients, LeavesATableThatIsReadTwice) {
  graph_.add_gradient(table("once"), backward("of_once"));
  const ValueId sum = graph_.add_node(kAdd, "sum", {}, {backward("first"), backward("second")})[0];
  graph_.add_gradient(table("twice"), sum);
  EXPECT_THAT(marked(), ElementsAre("of_once"));
}

TEST_F(MarkSparseGradients, LeavesAGradientThatSomethingElseReads) {
  const ValueId gradient = backward("read");
  graph_.add_gradient(table("table"), gradient);
  graph_.set_output("gradient", gradient);
  EXPECT_THAT(marked(), IsEmpty());
}

}  // namespace
}  // namespace bench
