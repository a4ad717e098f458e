#include <gtest/gtest.h>

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/onednn/onednn_backend.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

/// Whether our own kernel is among the candidates of a 3x3 convolution's filter gradient.
bool is_offered(DataFormat format, DType dtype) {
  const auto backend = make_onednn_backend({.processors = {0, 0}, .pin = false, .max_isa = {}});
  Graph graph;
  const Conv2dBackwardWeightsAttributes attributes{
      .window = {.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}},
      .weights = {32, 64, 3, 3}};
  const ValueId dy = graph.add_input("dy", {.dtype = dtype, .shape = {2, 32, 7, 7}});
  const ValueId x = graph.add_input("x", {.dtype = dtype, .shape = {2, 64, 7, 7}});
  graph.add_node(kConv2dBackwardWeights, "gradient", attributes, {dy, x});
  if (!backend->supports(graph, graph.nodes().front())) {
    return false;
  }
  const auto candidates = backend->candidates(graph, graph.nodes().front(), format);
  return std::any_of(candidates.begin(), candidates.end(), [](const Candidate& candidate) {
    return candidate.implementation.starts_with("filter_gradient:");
  });
}

bool has(dnnl::cpu_isa isa) {
  const auto wanted = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

TEST(FilterGradient, IsOfferedInBlocksWhereTheProcessorHasTheInstructions) {
  EXPECT_EQ(is_offered(DataFormat::automatic, DType::f32), has(dnnl::cpu_isa::avx512_core));
  EXPECT_EQ(is_offered(DataFormat::automatic, DType::bf16),
            has(dnnl::cpu_isa::avx512_core_bf16) && !has(dnnl::cpu_isa::avx512_core_amx));
}

TEST(FilterGradient, LeavesAFormatThatIsAskedForAlone) {
  EXPECT_FALSE(is_offered(DataFormat::nchw, DType::f32));
  EXPECT_FALSE(is_offered(DataFormat::nhwc, DType::f32));
}

}  // namespace
}  // namespace bench
