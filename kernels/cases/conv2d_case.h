#pragma once

#include <optional>
#include <string>

#include "kernels/cases/kernel_case.h"
#include "models/ops/conv2d.h"

namespace bench {

/// A short description of a convolution and of what is fused with it.
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
  /// With a prologue: the mean of x, and therefore the mean in the prologue's inputs.
  double x_mean = 0;
};

/// A case of kConv2d.
KernelCase make_convolution_case(const ConvolutionSpec& spec);
/// A case of kConv2dBackwardWeights, for that convolution with its prologue.
KernelCase make_filter_gradient_case(const ConvolutionSpec& spec);

}  // namespace bench
