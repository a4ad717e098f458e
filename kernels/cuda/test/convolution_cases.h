#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cases/cases.h"
#include "kernels/cuda/backend/convolutions.h"
#include "models/ops/conv2d.h"

namespace bench::cuda {

using Pass = ConvolutionProblem::Pass;
using Extents = std::array<std::int64_t, 4>;

inline constexpr std::array kPasses{Pass::forward, Pass::data, Pass::filter};
inline constexpr std::array kOrders{Order::nchw, Order::nhwc};
inline constexpr std::array kTypes{DType::f32, DType::f16, DType::bf16};

inline std::int64_t elements(const Extents& extents) {
  return extents[0] * extents[1] * extents[2] * extents[3];
}

inline Extents extents_of(const Shape& shape) { return {shape[0], shape[1], shape[2], shape[3]}; }

struct Case {
  std::string name;
  ConvolutionProblem problem;
};

/// The convolutions of the conformance suite, in one order and pass.
inline std::vector<Case> cases_of(Order order, Pass pass) {
  std::vector<Case> result;
  for (const KernelCase& kernel_case : all_cases()) {
    if (kernel_case.op != &kConv2d) {
      continue;
    }
    const auto& attributes = kernel_case.attributes.as<Conv2dAttributes>();
    const Extents x = extents_of(kernel_case.inputs[0].shape);
    const Extents filter = extents_of(kernel_case.inputs[1].shape);
    const Window& window = attributes.window;
    result.push_back({.name = kernel_case.name,
                      .problem = {.pass = pass,
                                  .order = order,
                                  .x = x,
                                  .filter = filter,
                                  .y = {x[0], filter[0], window.output_extent(0, x[2]),
                                        window.output_extent(1, x[3])},
                                  .window = window,
                                  .groups = attributes.groups}});
  }
  return result;
}

}  // namespace bench::cuda
