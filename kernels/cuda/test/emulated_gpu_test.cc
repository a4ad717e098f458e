#include <algorithm>
#include <map>
#include <set>

#include "kernels/cuda/test/gpu_ways.h"
#include "kernels/gpu_emulator/block.h"
#include "kernels/gpu_emulator/libraries/emulated_backend.h"
#include "kernels/test/tuning_suite.h"

namespace bench {
namespace {

/// Every kernel must leave the same bits in each order of lanes and blocks.
std::unique_ptr<Backend> make_repeating_backend() {
  cuda::emulator::set_repetition(true);
  return cuda::make_emulated_backend();
}

TEST(EmulatedConvolution, IsOfferedWithItsEpilogueFusedAndSeparate) {
  const auto backend = cuda::make_emulated_backend();
  for (const DType dtype : {DType::f32, DType::f16}) {
    for (const KernelCase& one : fused_cases(dtype)) {
      const Graph graph = case_graph(one, {.dtype = dtype, .gradients = false});
      const auto node = std::find_if(graph.nodes().begin(), graph.nodes().end(),
                                     [](const Node& other) { return other.op == &kConv2d; });
      ASSERT_NE(node, graph.nodes().end());
      const auto candidates = backend->candidates(graph, *node, DataFormat::nhwc);
      std::map<bool, double> seconds;
      for (const Candidate& candidate : candidates) {
        if (candidate.implementation == kDepthwise || candidate.implementation.starts_with("pad")) {
          continue;
        }
        const bool behind = candidate.intermediate_bytes > 0;
        EXPECT_EQ(behind, candidate.implementation.ends_with("+cuda"));
        seconds.try_emplace(behind, candidate.seconds);
      }
      ASSERT_TRUE(seconds.contains(true)) << one.name;
      const auto activation = one.attributes.as<Conv2dAttributes>().epilogue.activation;
      const bool known = activation == ActivationKind::none || activation == ActivationKind::relu;
      EXPECT_EQ(seconds.contains(false), known) << one.name;
      if (known) {
        EXPECT_LT(seconds.at(false), seconds.at(true)) << one.name;
      }
    }
  }
}

/// The candidate that the estimates choose.
const Candidate& by_estimate(const std::vector<Candidate>& candidates) {
  return *std::ranges::min_element(candidates, {}, &Candidate::seconds);
}

TEST(EmulatedDepthwise, IsOfferedInEachPassLayoutAndType) {
  const auto backend = cuda::make_emulated_backend();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    ASSERT_FALSE(depthwise_cases(dtype).empty());
    for (const KernelCase& one : depthwise_cases(dtype)) {
      const Graph graph = case_graph(one, {.dtype = dtype, .gradients = true});
      std::set<const OpDef*> seen;
      for (const Node& node : graph.nodes()) {
        if (node.op != &kConv2d && node.op != &kConv2dBackwardData &&
            node.op != &kConv2dBackwardWeights) {
          continue;
        }
        seen.insert(node.op);
        if (!backend->supports(graph, node)) {
          EXPECT_TRUE(node.op == &kConv2dBackwardWeights &&
                      one.attributes.as<Conv2dAttributes>().epilogue.bias)
              << one.name;
          continue;
        }
        for (const DataFormat format : {DataFormat::nchw, DataFormat::nhwc}) {
          const auto candidates = backend->candidates(graph, node, format);
          EXPECT_EQ(std::ranges::count(candidates, kDepthwise, &Candidate::implementation), 1);
          if (node.op != &kConv2dBackwardWeights) {
            EXPECT_EQ(by_estimate(candidates).implementation, kDepthwise) << one.name;
          }
        }
      }
      EXPECT_EQ(seen.size(), 3) << one.name;
    }
  }
}

TEST(EmulatedDepthwise, IsNotOfferedWhereGroupsHaveSeveralChannelsOrFilters) {
  const auto backend = cuda::make_emulated_backend();
  for (const KernelCase& one : cases_in(DType::f32)) {
    if (one.op != &kConv2d || one.name.starts_with("conv2d_depthwise")) {
      continue;
    }
    const Graph graph = case_graph(one, {.gradients = false});
    for (const Node& node : graph.nodes()) {
      if (node.op == &kConv2d && backend->supports(graph, node)) {
        for (const Candidate& candidate : backend->candidates(graph, node, DataFormat::nhwc)) {
          EXPECT_NE(candidate.implementation, kDepthwise) << one.name;
        }
      }
    }
  }
}

TEST(EmulatedConvolution, GivesStatisticsInF16AndNhwcAndIsOfferedWithoutThem) {
  const auto backend = cuda::make_emulated_backend();
  for (const KernelCase& one : cases_with_batch_norm(DType::f16)) {
    const Graph graph = case_graph(one, {.dtype = DType::f16, .gradients = false});
    const auto node = std::find_if(graph.nodes().begin(), graph.nodes().end(),
                                   [](const Node& other) { return other.op == &kConv2d; });
    ASSERT_NE(node, graph.nodes().end());
    // For grouped convolutions ours are faster without.
    const bool alone = one.attributes.as<Conv2dAttributes>().groups == 1;
    EXPECT_EQ(static_cast<bool>(backend->supports(graph, *node)), alone) << one.name;
    if (!alone) {
      continue;
    }
    for (const DataFormat format : {DataFormat::nhwc, DataFormat::nchw}) {
      std::map<bool, double> seconds;
      std::map<bool, std::int64_t> bytes;
      for (const Candidate& candidate : backend->candidates(graph, *node, format)) {
        seconds.try_emplace(takes_statistics(candidate), candidate.seconds);
        bytes.try_emplace(takes_statistics(candidate), candidate.intermediate_bytes);
      }
      ASSERT_TRUE(seconds.contains(false)) << one.name;
      EXPECT_EQ(seconds.contains(true), format == DataFormat::nhwc) << one.name;
      if (seconds.contains(true)) {
        EXPECT_LT(seconds.at(true), seconds.at(false)) << one.name;
        // The normalised tensor is read once instead of twice.
        EXPECT_EQ(2 * bytes.at(true), bytes.at(false)) << one.name;
      }
    }
  }
  for (const KernelCase& one : cases_with_batch_norm(DType::f32)) {
    const Graph graph = case_graph(one, {.dtype = DType::f32, .gradients = false});
    EXPECT_FALSE(backend->supports(graph, graph.nodes()[0])) << one.name;
  }
}

TEST(EmulatedConvolution, NormalizesItsInputInF16AndNhwc) {
  const auto backend = cuda::make_emulated_backend();
  int seen = 0;
  for (const KernelCase& one : chained_cases(DType::f16)) {
    const Graph graph = case_graph(one, {.dtype = DType::f16, .gradients = false});
    const Node& node = graph.nodes().back();
    ASSERT_EQ(node.op, one.op);
    if (!has_prologue(node) || !backend->supports(graph, node)) {
      continue;
    }
    ++seen;
    const TensorType& x = graph.type(node.inputs[node.op == &kConv2d ? 0 : 1]);
    for (const DataFormat format : {DataFormat::nhwc, DataFormat::nchw}) {
      std::map<bool, double> seconds;
      std::map<bool, std::int64_t> bytes;
      for (const Candidate& candidate : backend->candidates(graph, node, format)) {
        const bool in_plan = normalizes_in_plan(candidate);
        EXPECT_EQ(candidate.implementation.starts_with("cuda+"), !in_plan);
        const bool alike = node.op != &kConv2d || takes_statistics(candidate);
        if (format == DataFormat::nchw || alike) {
          seconds.try_emplace(in_plan, candidate.seconds);
          bytes.try_emplace(in_plan, candidate.intermediate_bytes);
        }
      }
      ASSERT_TRUE(seconds.contains(false)) << one.name;
      EXPECT_EQ(seconds.contains(true), format == DataFormat::nhwc) << one.name;
      if (seconds.contains(true)) {
        EXPECT_LT(seconds.at(true), seconds.at(false)) << one.name;
        // The normalised tensor is not written and read again.
        EXPECT_EQ(bytes.at(false) - bytes.at(true), 2 * 2 * x.shape.elements()) << one.name;
      }
    }
  }
  EXPECT_EQ(seen, 10);
}

TEST(EmulatedConvolution, NormalizesNothingInOtherTypesAndFormsThanCudnn) {
  const auto backend = cuda::make_emulated_backend();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const KernelCase& one : chained_cases(dtype)) {
      const Graph graph = case_graph(one, {.dtype = dtype, .gradients = false});
      const bool other_form = one.name.ends_with("linear") || one.name.ends_with("grouped") ||
                              one.name.ends_with("bias_relu");
      EXPECT_EQ(static_cast<bool>(backend->supports(graph, graph.nodes().back())),
                dtype == DType::f16 && !other_form)
          << one.name;
    }
  }
}

TEST(EmulatedClock, IsMeasuredByTheCyclesOfAKernel) {
  // The clock of the emulator's device.h.
  EXPECT_DOUBLE_EQ(cuda::make_emulated_backend()->measure_clock().value(), 1.5e9);
}

BackendUnderTest emulated() { return gpu_under_test("emulated_gpu", make_repeating_backend); }

}  // namespace

INSTANTIATE_TEST_SUITE_P(F32, Conformance, conformance_parameters(emulated(), DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(F16, Conformance, conformance_parameters(emulated(), DType::f16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(Bf16, Conformance, conformance_parameters(emulated(), DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(BehindF32, Conformance,
                         behind_parameters(make_repeating_backend, DType::f32), conformance_name);
INSTANTIATE_TEST_SUITE_P(BehindF16, Conformance,
                         behind_parameters(make_repeating_backend, DType::f16), conformance_name);
INSTANTIATE_TEST_SUITE_P(BehindBf16, Conformance,
                         behind_parameters(make_repeating_backend, DType::bf16), conformance_name);
INSTANTIATE_TEST_SUITE_P(DepthwiseF32, Conformance,
                         depthwise_parameters(make_repeating_backend, DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(DepthwiseF16, Conformance,
                         depthwise_parameters(make_repeating_backend, DType::f16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(DepthwiseBf16, Conformance,
                         depthwise_parameters(make_repeating_backend, DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(StatisticsBehindF16, Conformance,
                         statistics_behind_parameters(make_repeating_backend), conformance_name);
INSTANTIATE_TEST_SUITE_P(ChainedBehindF16, Conformance,
                         chained_behind_parameters(make_repeating_backend), conformance_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, OptimizerConformance, optimizer_parameters(emulated()),
                         optimizer_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, NormalizationConformance,
                         normalization_parameters(emulated(),
                                                  {DType::f32, DType::f16, DType::bf16}),
                         normalization_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, Tuning,
                         testing::Values(TunedDevice{.name = "emulated_gpu",
                                                     .make = cuda::make_emulated_backend}),
                         tuned_device_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, StreamConformance, testing::Values(emulated()), backend_name);

}  // namespace bench
