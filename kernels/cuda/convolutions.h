#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/gpu/view.h"
#include "kernels/cuda/runtime.h"
#include "models/base/dtype.h"
#include "models/ops/conv2d.h"

namespace bench::cuda {

/// A convolution, or one of its gradients, of tensors that lie in one order: activations NCHW or
/// NHWC, filters OIHW or OHWI.
struct ConvolutionProblem {
  enum class Pass : std::uint8_t { forward, data, filter };
  Pass pass = Pass::forward;
  /// Of activations, filters and results alike; sums are made in f32.
  DType dtype = DType::f32;
  Order order = Order::nhwc;
  /// x is N, C, H, W; the filter O, C/groups, KH, KW; y is N, O, H', W'.
  std::array<std::int64_t, 4> x = {};
  std::array<std::int64_t, 4> filter = {};
  std::array<std::int64_t, 4> y = {};
  Window window = {};
  std::int64_t groups = 1;
  /// What y gets in f32 before it is written, where the pass is forward.
  Epilogue epilogue = {};
  /// Whether y's sums per channel, and those of its squares, come with it.
  bool statistics = false;
  /// Whether x is scaled and shifted per channel and goes through ReLU before the convolution reads
  /// it, where the pass is forward or filter.
  bool prologue = false;
  bool operator==(const ConvolutionProblem&) const = default;
};

/// Whether engines that run a convolution in one graph with what is behind it, or without anything,
/// may be there. cuDNN has ready ones on tensor cores for a bias, with or without a residual before
/// it, and ReLU or nothing behind; and for statistics of f16 in NHWC, without an epilogue. There a
/// prologue may come before, and before the filter gradient too. Others it compiles at run time or
/// computes without tensor cores.
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
  /// Of the epilogue: an element per channel of y, and a tensor like y. Both of the problem's type.
  const void* bias = nullptr;
  const void* residual = nullptr;
  /// The statistics: an f32 number per channel of y each.
  float* sums = nullptr;
  float* squares = nullptr;
  /// The prologue's, an element of the problem's type per channel of x each.
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

/// One way among those offered for a problem.
struct ConvolutionChoice {
  /// E.g. "cudnn:engine 57".
  std::string implementation;
  std::size_t workspace_bytes = 0;
  /// Whether it computes with tensor cores.
  bool tensor_cores = false;
  /// Whether each launch gives the same bits.
  bool deterministic = true;
  std::function<std::unique_ptr<ConvolutionPlan>()> make;
};

/// Where convolutions come from: cuDNN, or the reference where a GPU is emulated.
class Convolutions {
 public:
  Convolutions() = default;
  Convolutions(const Convolutions&) = delete;
  Convolutions& operator=(const Convolutions&) = delete;
  virtual ~Convolutions() = default;
  /// Best first; empty where there is none, as there may be for a problem with an epilogue or
  /// statistics: then these have to be computed behind. Needs no GPU, and takes milliseconds the
  /// first time.
  virtual std::vector<ConvolutionChoice> choices(const ConvolutionProblem& problem) = 0;
  /// E.g. "9.19.0".
  [[nodiscard]] virtual std::string version() const = 0;
};

}  // namespace bench::cuda
