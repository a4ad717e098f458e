#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/test/gpu_under_test.h"
#include "kernels/filtering_backend.h"
#include "models/ops/conv2d.h"

namespace bench {

/// Tests of alternative candidates on a GPU, emulated or not, that its estimates do not choose.
/// `make` creates the GPU.
using MakeGpu = std::function<std::unique_ptr<Backend>()>;

/// A GPU with a filter that removes candidates.
inline BackendUnderTest filtered_gpu(std::string name, const MakeGpu& make,
                                     FilteringBackend::Filter filter) {
  return gpu_under_test(std::move(name), [make, filter = std::move(filter)] {
    return std::make_unique<FilteringBackend>(make(), filter);
  });
}

inline constexpr const char* kDepthwise = "cuda:depthwise";

inline bool takes_statistics(const Candidate& candidate) {
  return candidate.implementation.ends_with("+statistics+cuda");
}

/// Keeps candidates that compute an epilogue, or batch norm's statistics, after a convolution, even
/// if one graph could hold both.
inline void epilogues_behind_convolutions(const Node& node, std::vector<Candidate>& candidates) {
  if (node.op == &kConv2d && node.op->fused(node)) {
    std::erase_if(candidates, [](const Candidate& one) {
      return !one.implementation.ends_with("+cuda") || takes_statistics(one);
    });
  }
}

/// True if the case normalises its input, or leaves its output to be normalised.
inline bool is_chained(const KernelCase& one) {
  const Node node{
      .name = one.name, .op = one.op, .attributes = one.attributes, .inputs = {}, .outputs = {}};
  return has_prologue(node) ||
         (one.op == &kConv2d && one.attributes.as<Conv2dAttributes>().statistics_only);
}

/// The cases whose epilogues are in one graph unless they are kept apart.
inline std::vector<KernelCase> fused_cases(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases, [](const KernelCase& one) {
    return one.op != &kConv2d || one.attributes.as<Conv2dAttributes>().epilogue.empty() ||
           is_chained(one);
  });
  return cases;
}

/// The cases with a batch norm after the convolution, and without a prologue.
inline std::vector<KernelCase> cases_with_batch_norm(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases, [](const KernelCase& one) {
    return one.op != &kConv2d || !one.attributes.as<Conv2dAttributes>().batch_norm ||
           is_chained(one);
  });
  return cases;
}

inline BackendUnderTest epilogues_behind(const MakeGpu& make) {
  return filtered_gpu("epilogues_behind", make, epilogues_behind_convolutions);
}

inline auto behind_parameters(const MakeGpu& make, DType dtype) {
  return testing::Combine(testing::Values(epilogues_behind(make)),
                          testing::Values(DataFormat::nchw, DataFormat::nhwc),
                          testing::Values(dtype), testing::ValuesIn(fused_cases(dtype)));
}

/// In the order and type for which convolutions provide statistics.
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

/// Keeps candidates with a separate kernel for the prologue, even if the plan could compute it.
inline void prologues_ahead(const Node& /*node*/, std::vector<Candidate>& candidates) {
  std::erase_if(candidates, normalizes_in_plan);
}

/// In the order and type for which plans normalise.
inline auto chained_behind_parameters(const MakeGpu& make) {
  return testing::Combine(testing::Values(epilogues_behind(make),
                                          filtered_gpu("prologues_ahead", make, prologues_ahead)),
                          testing::Values(DataFormat::nhwc), testing::Values(DType::f16),
                          testing::ValuesIn(chained_cases(DType::f16)));
}

/// The cases of depthwise convolutions that have kernels: all except those with several channels
/// per group.
inline std::vector<KernelCase> depthwise_cases(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases,
                [](const KernelCase& one) { return !one.name.starts_with("conv2d_depthwise"); });
  return cases;
}

/// Keeps only our kernels, even if the estimates prefer others.
inline void depthwise_alone(const Node& node, std::vector<Candidate>& candidates) {
  if (node.op == &kConv2d || node.op == &kConv2dBackwardData ||
      node.op == &kConv2dBackwardWeights) {
    std::erase_if(candidates,
                  [](const Candidate& one) { return one.implementation != kDepthwise; });
  }
}

inline auto depthwise_parameters(const MakeGpu& make, DType dtype) {
  return testing::Combine(testing::Values(filtered_gpu("depthwise_alone", make, depthwise_alone)),
                          testing::Values(DataFormat::nchw, DataFormat::nhwc),
                          testing::Values(dtype), testing::ValuesIn(depthwise_cases(dtype)));
}

}  // namespace bench
