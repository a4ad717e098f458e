#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/onednn/isa.h"
#include "kernels/onednn/onednn_backend.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

using onednn::has_isa;

/// The names of the candidates of a backend with two threads; empty if it does not run the node.
std::vector<std::string> offered(const Graph& graph, DataFormat format) {
  const auto backend = make_onednn_backend({.processors = {0, 0}, .pin = false, .max_isa = {}});
  const Node& node = graph.nodes().front();
  std::vector<std::string> names;
  if (backend->supports(graph, node)) {
    for (const Candidate& candidate : backend->candidates(graph, node, format)) {
      names.push_back(candidate.implementation);
    }
  }
  return names;
}

bool any_begins_with(const std::vector<std::string>& names, const std::string& beginning) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.starts_with(beginning); });
}

struct Convolution {
  std::int64_t channels = 64;
  std::int64_t filters = 32;
  std::int64_t groups = 1;
  std::int64_t kernel = 3;
  std::int64_t dilation = 1;
};

/// Padding that keeps the size of an image.
Window window_of(const Convolution& c) {
  const std::int64_t pad = c.kernel / 2 * c.dilation;
  return {.kernel = {c.kernel, c.kernel},
          .dilation = {c.dilation, c.dilation},
          .pad_before = {pad, pad},
          .pad_after = {pad, pad}};
}

/// Images of 12 x 12 pixels.
std::vector<std::string> convolutions(const Convolution& c, DataFormat format, DType dtype) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = dtype, .shape = {2, c.channels, 12, 12}});
  const ValueId w = graph.add_input(
      "w", {.dtype = dtype, .shape = {c.filters, c.channels / c.groups, c.kernel, c.kernel}});
  graph.add_node(kConv2d, "convolution",
                 Conv2dAttributes{.window = window_of(c), .groups = c.groups}, {x, w});
  return offered(graph, format);
}

std::vector<std::string> filter_gradients(const Convolution& c, DataFormat format, DType dtype) {
  Graph graph;
  const ValueId dy = graph.add_input("dy", {.dtype = dtype, .shape = {2, c.filters, 12, 12}});
  const ValueId x = graph.add_input("x", {.dtype = dtype, .shape = {2, c.channels, 12, 12}});
  const Conv2dBackwardWeightsAttributes attributes{
      .window = window_of(c),
      .groups = c.groups,
      .weights = {c.filters, c.channels / c.groups, c.kernel, c.kernel}};
  graph.add_node(kConv2dBackwardWeights, "gradient", attributes, {dy, x});
  return offered(graph, format);
}

constexpr const char* kBlocked = "filter_gradient:";
constexpr const char* kDepthwise = "depthwise_gradient:";
constexpr const char* kWinograd = "winograd_4x4:";

TEST(BlockedFilterGradient, IsOfferedWhereTheProcessorHasTheInstructions) {
  EXPECT_EQ(any_begins_with(filter_gradients({}, DataFormat::automatic, DType::f32), kBlocked),
            has_isa(dnnl::cpu_isa::avx512_core));
  EXPECT_EQ(any_begins_with(filter_gradients({}, DataFormat::automatic, DType::bf16), kBlocked),
            has_isa(dnnl::cpu_isa::avx512_core_bf16) && !has_isa(dnnl::cpu_isa::avx512_core_amx));
}

TEST(BlockedFilterGradient, IsNotOfferedForOtherFiltersAndFormats) {
  const auto is_offered = [](const Convolution& c, DataFormat format) {
    return any_begins_with(filter_gradients(c, format, DType::f32), kBlocked);
  };
  EXPECT_FALSE(is_offered({}, DataFormat::nchw));
  EXPECT_FALSE(is_offered({}, DataFormat::nhwc));
  EXPECT_FALSE(is_offered({.kernel = 5}, DataFormat::automatic));
  EXPECT_FALSE(is_offered({.dilation = 2}, DataFormat::automatic));
  EXPECT_FALSE(is_offered({.groups = 2}, DataFormat::automatic));
  EXPECT_FALSE(is_offered({.channels = 24}, DataFormat::automatic));
}

bool has_winograd(DType dtype) {
  return dtype == DType::bf16
             ? has_isa(dnnl::cpu_isa::avx512_core) && !has_isa(dnnl::cpu_isa::avx512_core_amx)
             : has_isa(dnnl::cpu_isa::avx2);
}

TEST(Winograd, IsOfferedWhereTheProcessorHasTheInstructions) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const auto& names : {convolutions({}, DataFormat::automatic, dtype),
                              filter_gradients({}, DataFormat::automatic, dtype)}) {
      EXPECT_EQ(any_begins_with(names, kWinograd), has_winograd(dtype)) << name_of(dtype);
    }
  }
}

TEST(Winograd, IsNotOfferedForOtherFiltersTypesAndFormats) {
  const auto is_offered = [](const Convolution& c, DataFormat format, DType dtype = DType::f32) {
    return any_begins_with(convolutions(c, format, dtype), kWinograd);
  };
  EXPECT_FALSE(is_offered({}, DataFormat::nchw));
  EXPECT_FALSE(is_offered({}, DataFormat::nhwc));
  EXPECT_FALSE(is_offered({}, DataFormat::automatic, DType::f16));
  EXPECT_FALSE(is_offered({.kernel = 5}, DataFormat::automatic));
  EXPECT_FALSE(is_offered({.dilation = 2}, DataFormat::automatic));
  EXPECT_FALSE(is_offered({.groups = 2}, DataFormat::automatic));
  EXPECT_FALSE(is_offered({.channels = 20}, DataFormat::automatic));
}

TEST(DepthwiseFilterGradient, IsOfferedForLargeFilters) {
  const auto is_offered = [](const Convolution& c, DataFormat format) {
    return any_begins_with(filter_gradients(c, format, DType::f32), kDepthwise);
  };
  const Convolution known{.channels = 32, .filters = 32, .groups = 32, .kernel = 5};
  EXPECT_TRUE(is_offered(known, DataFormat::automatic));
  EXPECT_TRUE(is_offered(known, DataFormat::nhwc));
  EXPECT_FALSE(is_offered(known, DataFormat::nchw));
  Convolution other = known;
  other.kernel = 3;
  EXPECT_FALSE(is_offered(other, DataFormat::automatic));
  other = known;
  other.dilation = 2;
  EXPECT_FALSE(is_offered(other, DataFormat::automatic));
  other = known;
  other.filters = 64;
  EXPECT_FALSE(is_offered(other, DataFormat::automatic)) << "two filters a channel";
  EXPECT_FALSE(is_offered({.channels = 1, .filters = 1, .kernel = 5}, DataFormat::automatic));
}

/// The second convolution of Deep Speech 2, with fewer windows. With AVX2, oneDNN has only its
/// reference in other layouts than NCHW.
TEST(DataGradient, OfUnequalStridesHasABetterKernelThanTheReference) {
  Graph graph;
  const ValueId dy = graph.add_input("dy", {.shape = {2, 32, 22, 81}});
  const ValueId w = graph.add_input("w", {.shape = {32, 32, 21, 11}});
  const Conv2dBackwardDataAttributes attributes{
      .window = {.kernel = {21, 11}, .stride = {2, 1}, .pad_before = {10, 5}, .pad_after = {10, 5}},
      .input = {2, 32, 44, 81}};
  graph.add_node(kConv2dBackwardData, "gradient", attributes, {dy, w});
  for (const DataFormat format : {DataFormat::automatic, DataFormat::nchw}) {
    const std::vector<std::string> names = offered(graph, format);
    EXPECT_FALSE(std::ranges::all_of(
        names, [](const std::string& name) { return name.starts_with("ref"); }));
  }
}

TEST(DepthwiseDataGradient, OmitsTheSlowKernelOfOnednn) {
  Graph graph;
  const ValueId dy = graph.add_input("dy", {.dtype = DType::bf16, .shape = {2, 64, 14, 14}});
  const ValueId w = graph.add_input("w", {.dtype = DType::bf16, .shape = {64, 1, 3, 3}});
  const Conv2dBackwardDataAttributes attributes{
      .window = {.kernel = {3, 3}, .stride = {2, 2}, .pad_before = {0, 0}, .pad_after = {1, 1}},
      .groups = 64,
      .input = {2, 64, 28, 28}};
  graph.add_node(kConv2dBackwardData, "gradient", attributes, {dy, w});
  for (const DataFormat format : {DataFormat::automatic, DataFormat::nhwc}) {
    const auto names = offered(graph, format);
    EXPECT_EQ(!names.empty(), has_isa(dnnl::cpu_isa::avx512_core));
    EXPECT_FALSE(any_begins_with(names, "brgconv_strided:avx512_core_bf16"));
  }
}

TEST(HalfConvolution, HasABetterKernelThanTheReference) {
  if (!has_isa(dnnl::cpu_isa::avx512_core_fp16)) {
    GTEST_SKIP() << "needs AVX-512 FP16";
  }
  for (const DataFormat format : {DataFormat::automatic, DataFormat::nchw, DataFormat::nhwc}) {
    for (const Convolution& c : {Convolution{}, Convolution{.filters = 64, .groups = 64}}) {
      for (const auto& names :
           {convolutions(c, format, DType::f16), filter_gradients(c, format, DType::f16)}) {
        EXPECT_TRUE(std::ranges::any_of(names, [](const std::string& name) {
          return !name.starts_with("ref") && !name.starts_with("in_f32:ref");
        }));
      }
    }
  }
}

}  // namespace
}  // namespace bench
