#include <algorithm>
#include <map>
#include <set>

#include "kernels/cuda/emulator/block.h"
#include "kernels/cuda/emulator_libraries/emulated_backend.h"
#include "kernels/cuda/test/gpu_under_test.h"
#include "kernels/forwarding_backend.h"
#include "kernels/test/tuning_suite.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

/// Every kernel has to leave the same bits in each order of lanes and of blocks.
std::unique_ptr<Backend> make_repeating_backend() {
  cuda::emulator::set_repetition(true);
  return cuda::make_emulated_backend();
}

constexpr const char* kDepthwise = "cuda:depthwise";

bool takes_statistics(const Candidate& candidate) {
  return candidate.implementation.ends_with("+statistics+cuda");
}

/// Where an epilogue, or batch norm's statistics, are computed behind a convolution, though one
/// graph could hold both.
class EpiloguesBehind final : public ForwardingBackend {
 public:
  explicit EpiloguesBehind(std::unique_ptr<Backend> inner)
      : ForwardingBackend(*inner), owned_(std::move(inner)) {}

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> all = ForwardingBackend::candidates(graph, node, format);
    if (node.op == &kConv2d && node.op->fused(node)) {
      std::erase_if(all, [](const Candidate& one) {
        return one.intermediate_bytes == 0 || takes_statistics(one);
      });
    }
    return all;
  }

 private:
  std::unique_ptr<Backend> owned_;
};

BackendUnderTest epilogues_behind() {
  return gpu_under_test("epilogues_behind",
                        [] { return std::make_unique<EpiloguesBehind>(make_repeating_backend()); });
}

/// The cases whose epilogues are in one graph where they are not kept apart.
std::vector<KernelCase> fused_cases(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases, [](const KernelCase& one) {
    return one.op != &kConv2d || one.attributes.as<Conv2dAttributes>().epilogue.empty();
  });
  return cases;
}

/// The cases with a batch norm behind the convolution.
std::vector<KernelCase> batch_norm_cases(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases, [](const KernelCase& one) {
    return one.op != &kConv2d || !one.attributes.as<Conv2dAttributes>().batch_norm;
  });
  return cases;
}

auto behind_parameters(DType dtype) {
  return testing::Combine(testing::Values(epilogues_behind()),
                          testing::Values(DataFormat::nchw, DataFormat::nhwc),
                          testing::Values(dtype), testing::ValuesIn(fused_cases(dtype)));
}

TEST(EmulatedConvolution, IsOfferedWithItsEpilogueInOneGraphAndBehind) {
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
        if (candidate.implementation == kDepthwise) {
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

/// The cases of depthwise convolutions that there are kernels for: all but those whose groups have
/// several channels.
std::vector<KernelCase> depthwise_cases(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases,
                [](const KernelCase& one) { return !one.name.starts_with("conv2d_depthwise"); });
  return cases;
}

/// What runs the node where the estimates decide.
const Candidate& by_estimate(const std::vector<Candidate>& candidates) {
  return *std::ranges::min_element(candidates, {}, &Candidate::seconds);
}

TEST(EmulatedDepthwise, IsOfferedInEachPassOrderAndTypeAndForwardAndForDataFirstOfEqualEstimates) {
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

/// Our kernels alone, also where the estimates prefer others.
class DepthwiseAlone final : public ForwardingBackend {
 public:
  explicit DepthwiseAlone(std::unique_ptr<Backend> inner)
      : ForwardingBackend(*inner), owned_(std::move(inner)) {}

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> all = ForwardingBackend::candidates(graph, node, format);
    if (node.op == &kConv2d || node.op == &kConv2dBackwardData ||
        node.op == &kConv2dBackwardWeights) {
      std::erase_if(all, [](const Candidate& one) { return one.implementation != kDepthwise; });
    }
    return all;
  }

 private:
  std::unique_ptr<Backend> owned_;
};

auto depthwise_parameters(DType dtype) {
  return testing::Combine(
      testing::Values(gpu_under_test(
          "depthwise_alone",
          [] { return std::make_unique<DepthwiseAlone>(make_repeating_backend()); })),
      testing::Values(DataFormat::nchw, DataFormat::nhwc), testing::Values(dtype),
      testing::ValuesIn(depthwise_cases(dtype)));
}

TEST(EmulatedConvolution, GivesStatisticsInF16AndNhwcAndIsOfferedWithoutThem) {
  const auto backend = cuda::make_emulated_backend();
  for (const KernelCase& one : batch_norm_cases(DType::f16)) {
    const Graph graph = case_graph(one, {.dtype = DType::f16, .gradients = false});
    const auto node = std::find_if(graph.nodes().begin(), graph.nodes().end(),
                                   [](const Node& other) { return other.op == &kConv2d; });
    ASSERT_NE(node, graph.nodes().end());
    // In groups ours are faster without.
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
        // What is normalised is read once instead of twice.
        EXPECT_EQ(2 * bytes.at(true), bytes.at(false)) << one.name;
      }
    }
  }
  for (const KernelCase& one : batch_norm_cases(DType::f32)) {
    const Graph graph = case_graph(one, {.dtype = DType::f32, .gradients = false});
    EXPECT_FALSE(backend->supports(graph, graph.nodes()[0])) << one.name;
  }
}

TEST(EmulatedClock, IsThatOfTheCyclesThatAKernelCounts) {
  // Of the emulator's device.h.
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
INSTANTIATE_TEST_SUITE_P(BehindF32, Conformance, behind_parameters(DType::f32), conformance_name);
INSTANTIATE_TEST_SUITE_P(BehindF16, Conformance, behind_parameters(DType::f16), conformance_name);
INSTANTIATE_TEST_SUITE_P(BehindBf16, Conformance, behind_parameters(DType::bf16), conformance_name);
INSTANTIATE_TEST_SUITE_P(DepthwiseF32, Conformance, depthwise_parameters(DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(DepthwiseF16, Conformance, depthwise_parameters(DType::f16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(DepthwiseBf16, Conformance, depthwise_parameters(DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(StatisticsBehindF16, Conformance,
                         testing::Combine(testing::Values(epilogues_behind()),
                                          testing::Values(DataFormat::nhwc),
                                          testing::Values(DType::f16),
                                          testing::ValuesIn(batch_norm_cases(DType::f16))),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, OptimizerConformance, optimizer_parameters(emulated()),
                         optimizer_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, Tuning,
                         testing::Values(TunedDevice{.name = "emulated_gpu",
                                                     .make = cuda::make_emulated_backend}),
                         tuned_device_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, StreamConformance, testing::Values(emulated()), backend_name);

}  // namespace bench
