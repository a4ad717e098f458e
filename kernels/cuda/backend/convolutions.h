#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"
#include "models/base/dtype.h"
#include "models/ops/conv2d.h"

namespace bench::cuda {

/// A convolution, or one of its gradients. All tensors have the same order: activations are NCHW or
/// NHWC, filters OIHW or OHWI.
struct ConvolutionProblem {
  enum class Pass : std::uint8_t { forward, data, filter };
  Pass pass = Pass::forward;
  /// The type of activations, filters and results; sums are made in f32.
  DType dtype = DType::f32;
  Order order = Order::nhwc;
  /// x is N, C, H, W; the filter O, C/groups, KH, KW; y is N, O, H', W'.
  std::array<std::int64_t, 4> x = {};
  std::array<std::int64_t, 4> filter = {};
  std::array<std::int64_t, 4> y = {};
  Window window = {};
  std::int64_t groups = 1;
  /// What is applied to y in f32 before it is written, in the forward pass.
  Epilogue epilogue = {};
  /// True if the convolution also returns y's sums per channel and the sums of its squares.
  bool statistics = false;
  /// True if x is scaled and shifted per channel and goes through ReLU before the convolution reads
  /// it. Only in the forward and filter passes.
  bool prologue = false;
  bool operator==(const ConvolutionProblem&) const = default;
};

/// True if there may be engines that run the convolution and its prologue, epilogue or statistics
/// in one graph, or a convolution alone.
///
/// cuDNN has ready engines on tensor cores for a bias, with or without a residual before it,
/// followed by ReLU or nothing. It also has them for statistics of f16 in NHWC, without an
/// epilogue. There a prologue may come first, also before the filter gradient. cuDNN compiles other
/// engines at run time or computes without tensor cores.
constexpr bool in_one_graph(const ConvolutionProblem& problem) {
  const Epilogue& epilogue = problem.epilogue;
  const bool forward = problem.pass == ConvolutionProblem::Pass::forward;
  if (problem.statistics || problem.prologue) {
    const bool pass = forward
                          ? problem.statistics
                          : problem.pass == ConvolutionProblem::Pass::filter && !problem.statistics;
    return pass && epilogue == Epilogue{} && problem.dtype == DType::f16 &&
           problem.order == Order::nhwc && (!problem.prologue || problem.groups == 1);
  }
  return epilogue == Epilogue{} || (forward && epilogue.bias &&
                                    (epilogue.activation == ActivationKind::none ||
                                     epilogue.activation == ActivationKind::relu));
}

/// The tensors of a launch. forward: first x, second the filter, result y. data: dy, the filter,
/// dx. filter: dy, x, dw.
struct ConvolutionMemory {
  const void* first = nullptr;
  const void* second = nullptr;
  void* result = nullptr;
  /// The epilogue's: an element per channel of y, and a tensor like y. Both have the problem's
  /// type.
  const void* bias = nullptr;
  const void* residual = nullptr;
  /// The statistics: one f32 number each per channel of y.
  float* sums = nullptr;
  float* squares = nullptr;
  /// The prologue's: one element each of the problem's type per channel of x.
  const void* scale = nullptr;
  const void* shift = nullptr;
  void* workspace = nullptr;
  bool operator==(const ConvolutionMemory&) const = default;
};

/// A way to run a convolution on a device; made once, launched every step.
class ConvolutionPlan {
 public:
  ConvolutionPlan() = default;
  ConvolutionPlan(const ConvolutionPlan&) = delete;
  ConvolutionPlan& operator=(const ConvolutionPlan&) = delete;
  virtual ~ConvolutionPlan() = default;
  /// Enqueues and does not wait. Overwrites the result.
  virtual void launch(cudaStream_t stream, const ConvolutionMemory& memory) = 0;
};

/// One of the ways offered for a problem.
struct ConvolutionChoice {
  /// E.g. "cudnn:engine 57".
  std::string implementation;
  std::size_t workspace_bytes = 0;
  /// True if it computes with tensor cores.
  bool tensor_cores = false;
  /// True if each launch gives the same bits.
  bool deterministic = true;
  std::function<std::unique_ptr<ConvolutionPlan>()> make;
};

/// The source of convolutions: cuDNN, or the reference on an emulated GPU.
class Convolutions {
 public:
  Convolutions() = default;
  Convolutions(const Convolutions&) = delete;
  Convolutions& operator=(const Convolutions&) = delete;
  virtual ~Convolutions() = default;
  /// The choices, best first. May be empty for a problem with an epilogue or statistics: a separate
  /// launch must then compute these. Needs no GPU, and takes milliseconds the first time.
  virtual std::vector<ConvolutionChoice> choices(const ConvolutionProblem& problem) = 0;
  /// E.g. "9.19.0".
  [[nodiscard]] virtual std::string version() const = 0;
};

}  // namespace bench::cuda
