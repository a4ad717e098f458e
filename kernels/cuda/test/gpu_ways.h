#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/test/gpu_under_test.h"
#include "kernels/forwarding_backend.h"
#include "models/ops/conv2d.h"

namespace bench {

/// What there are several ways for on a GPU, emulated or not, in those that its estimates do not
/// take. `make` makes the GPU.
using MakeGpu = std::function<std::unique_ptr<Backend>()>;

inline constexpr const char* kDepthwise = "cuda:depthwise";

inline bool takes_statistics(const Candidate& candidate) {
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

/// Whether it normalises what it reads, or leaves what it writes to be normalised.
inline bool is_chained(const KernelCase& one) {
  const Node node{
      .name = one.name, .op = one.op, .attributes = one.attributes, .inputs = {}, .outputs = {}};
  return has_prologue(node) ||
         (one.op == &kConv2d && one.attributes.as<Conv2dAttributes>().statistics_only);
}

/// The cases whose epilogues are in one graph where they are not kept apart.
inline std::vector<KernelCase> fused_cases(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases, [](const KernelCase& one) {
    return one.op != &kConv2d || one.attributes.as<Conv2dAttributes>().epilogue.empty() ||
           is_chained(one);
  });
  return cases;
}

/// The cases with a batch norm behind the convolution, and nothing before it.
inline std::vector<KernelCase> cases_with_batch_norm(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases, [](const KernelCase& one) {
    return one.op != &kConv2d || !one.attributes.as<Conv2dAttributes>().batch_norm ||
           is_chained(one);
  });
  return cases;
}

inline BackendUnderTest epilogues_behind(const MakeGpu& make) {
  return gpu_under_test("epilogues_behind",
                        [make] { return std::make_unique<EpiloguesBehind>(make()); });
}

inline auto behind_parameters(const MakeGpu& make, DType dtype) {
  return testing::Combine(testing::Values(epilogues_behind(make)),
                          testing::Values(DataFormat::nchw, DataFormat::nhwc),
                          testing::Values(dtype), testing::ValuesIn(fused_cases(dtype)));
}

/// In the order and the type that have statistics from a convolution.
inline auto statistics_behind_parameters(const MakeGpu& make) {
  return testing::Combine(testing::Values(epilogues_behind(make)),
                          testing::Values(DataFormat::nhwc), testing::Values(DType::f16),
                          testing::ValuesIn(cases_with_batch_norm(DType::f16)));
}

/// The cases of convolutions, and of their filter gradients, in a chain of batch norms that they
/// compute.
inline std::vector<KernelCase> chained_cases(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases, [](const KernelCase& one) { return !is_chained(one); });
  return cases;
}

inline bool normalizes_in_plan(const Candidate& candidate) {
  return candidate.implementation.find("+prologue") != std::string::npos;
}

/// Where a kernel of ours normalises what a convolution reads, though its plan could.
class ProloguesAhead final : public ForwardingBackend {
 public:
  explicit ProloguesAhead(std::unique_ptr<Backend> inner)
      : ForwardingBackend(*inner), owned_(std::move(inner)) {}

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> all = ForwardingBackend::candidates(graph, node, format);
    std::erase_if(all, normalizes_in_plan);
    return all;
  }

 private:
  std::unique_ptr<Backend> owned_;
};

/// In the order and the type in which plans normalise.
inline auto chained_behind_parameters(const MakeGpu& make) {
  return testing::Combine(
      testing::Values(epilogues_behind(make),
                      gpu_under_test("prologues_ahead",
                                     [make] { return std::make_unique<ProloguesAhead>(make()); })),
      testing::Values(DataFormat::nhwc), testing::Values(DType::f16),
      testing::ValuesIn(chained_cases(DType::f16)));
}

/// The cases of depthwise convolutions that there are kernels for: all but those whose groups have
/// several channels.
inline std::vector<KernelCase> depthwise_cases(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases,
                [](const KernelCase& one) { return !one.name.starts_with("conv2d_depthwise"); });
  return cases;
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

inline auto depthwise_parameters(const MakeGpu& make, DType dtype) {
  return testing::Combine(
      testing::Values(gpu_under_test("depthwise_alone",
                                     [make] { return std::make_unique<DepthwiseAlone>(make()); })),
      testing::Values(DataFormat::nchw, DataFormat::nhwc), testing::Values(dtype),
      testing::ValuesIn(depthwise_cases(dtype)));
}

}  // namespace bench
