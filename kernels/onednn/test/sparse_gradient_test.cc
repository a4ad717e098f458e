#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/executor.h"
#include "kernels/onednn/onednn_backend.h"
#include "models/ops/embedding.h"
#include "models/passes/sparse_gradients.h"

namespace bench::onednn {
namespace {

TEST(SparseGradient, ReplacesTheRowsOfThePreviousRun) {
  Graph graph;
  const ValueId dy = graph.add_input("dy", {.dtype = DType::f32, .shape = {3, 2}});
  const ValueId ids = graph.add_input("ids", {.dtype = DType::s32, .shape = {3}});
  const ValueId table =
      graph.add_variable("table", {.dtype = DType::f32, .shape = {5, 2}}, VariableRole::weight);
  graph.set_output("read", graph.add_node(kEmbedding, "read", {}, {table, ids})[0]);
  graph.add_gradient(table, graph.add_node(kEmbeddingBackward, "back",
                                           EmbeddingBackwardAttributes{.rows = 5}, {dy, ids})[0]);
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  Executor executor(mark_sparse_gradients(graph), *backend, {.poison = true});
  const auto gradient = [&](const std::vector<std::int32_t>& rows, const std::vector<float>& of) {
    executor.write_input("ids", std::as_bytes(std::span(rows)));
    executor.write_input("dy", std::as_bytes(std::span(of)));
    executor.run();
    return executor.read_gradient("table");
  };
  EXPECT_EQ(gradient({4, 0, 4}, {1, 2, 3, 4, 5, 6}),
            (std::vector<float>{3, 4, 0, 0, 0, 0, 0, 0, 6, 8}));
  EXPECT_TRUE(std::ranges::equal(executor.sparse_rows(0), std::vector<std::int32_t>{0, 4}));
  EXPECT_EQ(gradient({1, 0, 2}, {1, 2, 3, 4, 5, 6}),
            (std::vector<float>{3, 4, 1, 2, 5, 6, 0, 0, 0, 0}));
  EXPECT_TRUE(std::ranges::equal(executor.sparse_rows(0), std::vector<std::int32_t>{0, 1, 2}));
}

}  // namespace
}  // namespace bench::onednn
