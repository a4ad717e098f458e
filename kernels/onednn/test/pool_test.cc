#include <gtest/gtest.h>

#include "kernels/onednn/onednn_backend.h"
#include "models/ops/pool.h"

namespace bench::onednn {
namespace {

/// The largest number of bytes for the indices, over the candidates in all layouts.
std::size_t index_bytes(bool training) {
  const PoolAttributes halves{.window = {.kernel = {2, 2}, .stride = {2, 2}},
                              .input = {2, 16, 8, 8}};
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = DType::f32, .shape = halves.input});
  const std::vector<ValueId> pooled = graph.add_node(kMaxPool, "pool", halves, {x});
  if (training) {
    const ValueId dy = graph.add_input("dy", graph.type(pooled[0]));
    graph.add_node(kMaxPoolBackward, "gradient", halves, {dy, pooled[1]});
  }
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  std::size_t most = 0;
  for (const Candidate& candidate :
       backend->candidates(graph, graph.nodes().front(), DataFormat::automatic)) {
    most = std::max(most, candidate.opaque_bytes.at(1));
  }
  return most;
}

TEST(MaxPool, WritesIndicesOnlyIfTheyAreRead) {
  EXPECT_GT(index_bytes(true), 0U);
  EXPECT_EQ(index_bytes(false), 0U);
}

}  // namespace
}  // namespace bench::onednn
