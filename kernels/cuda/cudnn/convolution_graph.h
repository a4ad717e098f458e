#pragma once

#include <array>
#include <vector>

#include "kernels/cuda/backend/convolutions.h"
#include "kernels/cuda/cudnn/descriptor.h"

namespace bench::cuda {

/// Ids of a launch's tensors in a variant pack: those of ConvolutionMemory, in its order.
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

/// A convolution in cuDNN's form: a graph of one operation, followed by the operations of its
/// epilogue. Groups are implicit: cuDNN finds them if the filter has fewer channels than x.
///
/// The epilogue, which has a bias, is wired to match cuDNN's ready engines. The residual is added
/// first, then the bias, then ReLU. Intermediate tensors are in f32 and never in memory. Only
/// engines that are compiled at run time support another order, or an f32 bias with 16-bit tensors.
///
/// A prologue scales, shifts and then activates x, to match cuDNN's ready engines. Intermediate
/// tensors have the problem's type and are never in memory. Padding after the prologue is 0.
///
/// Statistics are those of y as stored in memory, according to their input's type. They are f32.
/// The documentation does not say whether an engine rounds its results to that type before it adds
/// them.
struct ConvolutionGraph {
  /// `handle` is for the device to run on, or null for a card that is only described. Throws
  /// DeviceError if the extents do not match, InternalError for a problem that is not
  /// in_one_graph().
  ConvolutionGraph(const ConvolutionProblem& problem, cudnnHandle_t handle);

  std::vector<Descriptor> operations;
  Descriptor graph;
};

}  // namespace bench::cuda
