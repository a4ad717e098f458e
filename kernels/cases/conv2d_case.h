#pragma once

#include <optional>
#include <string>

#include "kernels/cases/kernel_case.h"
#include "models/ops/conv2d.h"

namespace bench {

/// A convolution, and what is computed with it, in short.
struct ConvolutionSpec {
  std::string name;
  Shape x;
  std::int64_t filters = 0;
  Window window = {};
  std::int64_t groups = 1;
  Epilogue epilogue = {};
  bool exact = false;
  std::optional<BatchNormAttributes> batch_norm = {};
  InputFill fill = {};
  bool statistics_only = false;
  std::optional<BatchNormAttributes> prologue = {};
  /// With a prologue: of x, and so of what the prologue takes for it.
  double x_mean = 0;
};

/// Of kConv2d.
KernelCase make_convolution_case(const ConvolutionSpec& spec);
/// Of kConv2dBackwardWeights, of that convolution with its prologue.
KernelCase make_filter_gradient_case(const ConvolutionSpec& spec);

}  // namespace bench
