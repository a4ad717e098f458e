#pragma once

#include <array>

#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/cudnn/descriptor.h"

namespace bench::cuda {

/// Names of a launch's tensors in a variant pack: those of ConvolutionMemory, in its order.
inline constexpr std::array<std::int64_t, 3> kConvolutionTensors{1, 2, 3};

/// A packed tensor of four axes, given in the order N, C, H, W or O, C, H, W.
Descriptor tensor_descriptor(std::int64_t id, DType dtype,
                             const std::array<std::int64_t, 4>& extents, Order order);

/// A convolution as cuDNN wants it described: a graph of one operation. Groups are not said: cuDNN
/// finds them where the filter has fewer channels than x.
struct ConvolutionGraph {
  /// With a handle for the device to run on, or without one (null) for a card that is only
  /// described. Throws DeviceError for extents that do not fit together.
  ConvolutionGraph(const ConvolutionProblem& problem, cudnnHandle_t handle);

  Descriptor operation;
  Descriptor graph;
};

}  // namespace bench::cuda
