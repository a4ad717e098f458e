#pragma once

#include <array>
#include <vector>

#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/cudnn/descriptor.h"

namespace bench::cuda {

/// Names of a launch's tensors in a variant pack: those of ConvolutionMemory, in its order.
inline constexpr std::array<std::int64_t, 3> kConvolutionTensors{1, 2, 3};
inline constexpr std::int64_t kBiasTensor = 4;
inline constexpr std::int64_t kResidualTensor = 5;
inline constexpr std::int64_t kSumsTensor = 6;
inline constexpr std::int64_t kSquaresTensor = 7;
inline constexpr std::int64_t kScaleTensor = 8;
inline constexpr std::int64_t kShiftTensor = 9;

/// A packed tensor of four axes, given in the order N, C, H, W or O, C, H, W.
Descriptor tensor_descriptor(std::int64_t id, DType dtype,
                             const std::array<std::int64_t, 4>& extents, Order order);

/// A convolution as cuDNN wants it described: a graph of one operation, with the operations of its
/// epilogue behind. Groups are not said: cuDNN finds them where the filter has fewer channels than
/// x.
///
/// The epilogue, which has a bias, is wired as cuDNN's ready engines know it: the residual is added
/// first, then the bias, then ReLU; what is between them is in f32 and never in memory. Another
/// order, or a bias of f32 beside 16 bits, has none but engines that are compiled at run time.
///
/// A prologue scales, shifts and then activates x, as cuDNN's ready engines know it; what is
/// between has the problem's type and is never in memory, and padding is 0 behind it.
///
/// Statistics are of y as it is in memory, by the type of their input; whether an engine rounds its
/// results to that type before it adds them, cuDNN does not say. They are f32.
struct ConvolutionGraph {
  /// With a handle for the device to run on, or without one (null) for a card that is only
  /// described. Throws DeviceError for extents that do not fit together, InternalError for what is
  /// not in_one_graph().
  ConvolutionGraph(const ConvolutionProblem& problem, cudnnHandle_t handle);

  std::vector<Descriptor> operations;
  Descriptor graph;
};

}  // namespace bench::cuda
