#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/onednn/onednn_backend.h"
#include "models/base/errors.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

std::vector<Candidate> backward_candidates(std::int64_t side) {
  const Shape x{1, 64, side, side};
  Graph graph;
  const ValueId dy = graph.add_input("dy", {.dtype = DType::f32, .shape = {1, 256, side, side}});
  const ValueId w = graph.add_input("w", {.dtype = DType::f32, .shape = {256, 64, 1, 1}});
  graph.add_node(kConv2dBackwardData, "conv", Conv2dBackwardDataAttributes{.input = x}, {dy, w});
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}});
  return backend->candidates(graph, graph.nodes().front(), DataFormat::automatic);
}

TEST(OnednnBackend, RefusesImagesWhoseElementsTakeMoreThan31Bits) {
  EXPECT_FALSE(backward_candidates(2048).empty());
  // 2^32 elements, which are 0 in 32 bits.
  EXPECT_THAT([] { backward_candidates(4096); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr(
                  "at most 2147483647 elements, but conv has 256 x 4096 x 4096")));
}

// This program runs with ONEDNN_DEFAULT_FPMATH_MODE=BF16.
TEST(OnednnBackend, ComputesInTheRequestedTypeDespiteTheEnvironment) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}});
  EXPECT_EQ(dnnl::primitive_attr().get_fpmath_mode(), dnnl::fpmath_mode::strict);
}

}  // namespace
}  // namespace bench
