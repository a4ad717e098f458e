// Tests layers on sequences: those that cuDNN lacks, and ids outside the table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/executor.h"
#include "kernels/gpu_emulator/libraries/emulated_backend.h"
#include "models/ops/embedding.h"
#include "models/ops/rnn.h"

namespace bench::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A graph of one recurrent layer with two sequences of three steps.
Graph graph_of(const RnnAttributes& attributes, DType dtype = DType::f32) {
  const std::int64_t gates = gates_of(attributes.cell);
  Graph graph;
  std::vector<ValueId> inputs{graph.add_input("x", {.dtype = dtype, .shape = {3, 2, 4}}),
                              graph.add_input("w_x", {.dtype = dtype, .shape = {1, gates, 5, 4}}),
                              graph.add_input("w_h", {.dtype = dtype, .shape = {1, gates, 5, 5}}),
                              graph.add_input("b_x", {.shape = {gates * 5}})};
  if (attributes.lengths) {
    inputs.push_back(graph.add_input("lengths", {.dtype = DType::s32, .shape = {2}}));
  }
  graph.set_output("y", graph.add_node(kRnn, "rnn", attributes, inputs)[0]);
  return graph;
}

std::string refusal(Backend& backend, const RnnAttributes& attributes) {
  const Graph graph = graph_of(attributes);
  return backend.supports(graph, graph.nodes()[0]).why_not;
}

TEST(RecurrentLayers, AreRefusedWithTheReason) {
  const auto present = make_emulated_backend();
  EXPECT_EQ(refusal(*present, {.cell = RnnCell::lstm}), "");
  EXPECT_EQ(refusal(*present, {.cell = RnnCell::gru_reset_after}), "");
  EXPECT_THAT(refusal(*present, {.cell = RnnCell::gru_reset_before}),
              HasSubstr("no GRU that applies the reset gate before the product"));
  EXPECT_THAT(refusal(*present, {.cell = RnnCell::lstm, .lengths = true}),
              HasSubstr("must know sequence lengths in advance"));
  const auto planned = make_emulated_provider()->make_planner("sm_90", {}).backend;
  EXPECT_THAT(refusal(*planned, {.cell = RnnCell::lstm}), HasSubstr("only if the GPU is present"));
}

TEST(RecurrentLayers, NeedANewerCardInBfloat16) {
  const auto old = make_emulated_provider()->make_planner("sm_75", {}).backend;
  Graph graph = graph_of({.cell = RnnCell::lstm}, DType::bf16);
  EXPECT_THAT(old->supports(graph, graph.nodes()[0]).why_not,
              HasSubstr("bf16 needs compute capability 8.0"));
}

/// The output of a node of embeddings, given a matrix and ids.
std::vector<float> computed(const OpDef& op, const Attributes& attributes, const Shape& shape,
                            const std::vector<float>& matrix,
                            const std::vector<std::int32_t>& ids) {
  Graph graph;
  const std::vector<ValueId> inputs{
      graph.add_input("matrix", {.shape = shape}),
      graph.add_input("ids",
                      {.dtype = DType::s32, .shape = {static_cast<std::int64_t>(ids.size())}})};
  graph.set_output("out", graph.add_node(op, "node", attributes, inputs)[0]);
  const auto backend = make_emulated_backend();
  Executor executor(graph, *backend, {.format = DataFormat::nhwc});
  executor.write_input("matrix", std::as_bytes(std::span(matrix)));
  executor.write_input("ids", std::as_bytes(std::span(ids)));
  executor.run();
  return executor.read_output_as_floats("out");
}

TEST(Embedding, ReturnsNaNsForIdsOutsideOfTheTable) {
  const auto nan = testing::IsNan();
  EXPECT_THAT(computed(kEmbedding, {}, {3, 2}, {1, 2, 3, 4, 5, 6}, {2, 3, -1, 0}),
              ElementsAre(5, 6, nan, nan, nan, nan, 1, 2));
}

TEST(EmbeddingBackward, SkipsIdsOutsideOfTheTable) {
  EXPECT_THAT(computed(kEmbeddingBackward, EmbeddingBackwardAttributes{.rows = 3}, {4, 2},
                       {1, 2, 3, 4, 5, 6, 7, 8}, {2, 3, -1, 2}),
              ElementsAre(0, 0, 0, 0, 8, 10));
}

// One id occurs at the borders of lanes, warps and blocks.
TEST(EmbeddingBackward, SumsPlacesOfAllLanes) {
  constexpr std::int64_t kPlaces = 600;
  std::vector<std::int32_t> ids(kPlaces);
  std::vector<float> dy(kPlaces);
  for (const std::size_t place : {0, 1, 31, 32, 63, 64, 255, 256, 287, 288, 511, 512, 599}) {
    ids[place] = 1;
    dy[place] = 1 + static_cast<float>(place);
  }
  EXPECT_THAT(
      computed(kEmbeddingBackward, EmbeddingBackwardAttributes{.rows = 2}, {kPlaces, 1}, dy, ids),
      ElementsAre(0, 2912));
}

}  // namespace
}  // namespace bench::cuda
