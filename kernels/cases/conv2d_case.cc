#include "kernels/cases/conv2d_case.h"

#include <algorithm>

namespace bench {
namespace {

void add_batch_norm(KernelCase& result, const BatchNormAttributes& norm, const Shape& y) {
  const auto add_vector = [&](const InputFill& fill) {
    result.weights.push_back(result.inputs.size());
    result.inputs.push_back({.shape = {y[1]}});
    result.fills.push_back(fill);
  };
  if (norm.scale) {
    add_vector({.mean = 1, .scale = 0.5});
  }
  add_vector({});
  if (norm.epilogue.residual) {
    result.inputs.push_back({.shape = y});
    result.fills.push_back({});
  }
}

/// gamma, beta, mean and variance of x.
void add_prologue(KernelCase& result, const ConvolutionSpec& spec, std::size_t x) {
  const std::optional<BatchNormAttributes>& prologue = spec.prologue;
  if (!prologue) {
    return;
  }
  const std::int64_t channels = spec.x[1];
  result.fills[x].mean += spec.x_mean;
  const auto add_vector = [&](const InputFill& fill) {
    result.inputs.push_back({.shape = {channels}});
    result.fills.push_back(fill);
  };
  if (prologue->scale) {
    add_vector({.mean = 1, .scale = 0.5});
  }
  add_vector({.scale = 0.5});
  add_vector({.mean = spec.x_mean, .scale = 0.5});
  add_vector({.kind = InputFill::Kind::positive, .mean = 0.5});
  // The backward pass is there already.
  result.gradients = false;
}

}  // namespace

KernelCase make_filter_gradient_case(const ConvolutionSpec& spec) {
  const Window& window = spec.window;
  const Shape w{spec.filters, spec.x[1] / spec.groups, window.kernel[0], window.kernel[1]};
  const Shape y{spec.x[0], spec.filters, window.output_extent(0, spec.x[2]),
                window.output_extent(1, spec.x[3])};
  KernelCase result{
      .name = "conv2d_backward_weights_" + spec.name,
      .op = &kConv2dBackwardWeights,
      .attributes =
          Conv2dBackwardWeightsAttributes{
              .window = window, .groups = spec.groups, .weights = w, .prologue = spec.prologue},
      .inputs = {{.shape = y}, {.shape = spec.x}},
      .fills = {{}, spec.fill},
      .reduction = y[0] * y[2] * y[3]};
  add_prologue(result, spec, 1);
  return result;
}

KernelCase make_convolution_case(const ConvolutionSpec& spec) {
  const Window& window = spec.window;
  const auto [kernel_height, kernel_width] = window.kernel;
  const Shape w{spec.filters, spec.x[1] / spec.groups, kernel_height, kernel_width};
  const Shape y{spec.x[0], spec.filters, window.output_extent(0, spec.x[2]),
                window.output_extent(1, spec.x[3])};
  const InputFill fill =
      spec.exact ? InputFill{.kind = InputFill::Kind::integers, .scale = 4.0} : spec.fill;
  const std::int64_t taps = kernel_height * kernel_width;
  KernelCase result{
      .name = "conv2d_" + spec.name,
      .op = &kConv2d,
      .attributes = Conv2dAttributes{.window = window,
                                     .groups = spec.groups,
                                     .epilogue = spec.epilogue,
                                     .batch_norm = spec.batch_norm,
                                     .statistics_only = spec.statistics_only,
                                     .prologue = spec.prologue},
      .inputs = {{.shape = spec.x}, {.shape = w}},
      .fills = {fill, fill},
      .weights = {1},
      .exact = spec.exact,
      .reduction = std::max({w[1] * taps, w[0] / spec.groups * taps, y[0] * y[2] * y[3]})};
  if (spec.epilogue.bias) {
    result.weights.push_back(result.inputs.size());
    result.inputs.push_back({.shape = {spec.filters}});
    result.fills.push_back(fill);
  }
  if (spec.epilogue.residual) {
    result.inputs.push_back({.shape = y});
    result.fills.push_back(fill);
  }
  if (spec.batch_norm) {
    add_batch_norm(result, *spec.batch_norm, y);
    result.gradients = !spec.statistics_only;
  }
  add_prologue(result, spec, 0);
  return result;
}

}  // namespace bench
