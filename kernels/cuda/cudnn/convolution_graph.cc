#include "kernels/cuda/cudnn/convolution_graph.h"

#include "models/base/errors.h"

namespace bench::cuda {
namespace {

using Pass = ConvolutionProblem::Pass;

/// What the widest loads ask for; our memory is aligned to more.
constexpr std::int64_t kAlignment = 16;

cudnnDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return CUDNN_DATA_FLOAT;
    case DType::f16:
      return CUDNN_DATA_HALF;
    case DType::bf16:
      return CUDNN_DATA_BFLOAT16;
    default:
      throw InternalError(cat("cudnn: no convolutions in ", name_of(dtype)));
  }
}

Descriptor window_descriptor(const Window& window) {
  Descriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  // Sums are made in f32 whatever the elements are.
  result.set_value(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  result.set_value(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                   CUDNN_CROSS_CORRELATION);
  result.set_integer(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
  result.set_integers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, window.pad_before);
  result.set_integers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, window.pad_after);
  result.set_integers(CUDNN_ATTR_CONVOLUTION_DILATIONS, window.dilation);
  result.set_integers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, window.stride);
  result.finalize();
  return result;
}

/// Which kind of operation a pass is, and its attributes: the convolution, what a
/// ConvolutionMemory's first, second and result are to it, and the factors.
struct Wiring {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t convolution;
  std::array<cudnnBackendAttributeName_t, 3> tensors;
  cudnnBackendAttributeName_t alpha;
  cudnnBackendAttributeName_t beta;
};

Wiring wiring_of(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return {.operation = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              .convolution = CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              .tensors = {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
              .alpha = CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              .beta = CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case Pass::data:
      return {.operation = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              .convolution = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              .tensors = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX},
              .alpha = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              .beta = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case Pass::filter:
      break;
  }
  return {.operation = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          .convolution = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          .tensors = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW},
          .alpha = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          .beta = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

/// The extents of a launch's first, second and result.
std::array<std::array<std::int64_t, 4>, 3> extents_of(const ConvolutionProblem& problem) {
  switch (problem.pass) {
    case Pass::forward:
      return {problem.x, problem.filter, problem.y};
    case Pass::data:
      return {problem.y, problem.filter, problem.x};
    case Pass::filter:
      break;
  }
  return {problem.y, problem.x, problem.filter};
}

Descriptor operation_of(const ConvolutionProblem& problem) {
  const Wiring wiring = wiring_of(problem.pass);
  const auto extents = extents_of(problem);
  Descriptor result(wiring.operation);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    result.set_descriptor(
        wiring.tensors[i],
        tensor_descriptor(kConvolutionTensors[i], problem.dtype, extents[i], problem.order));
  }
  result.set_descriptor(wiring.convolution, window_descriptor(problem.window));
  result.set_float(wiring.alpha, 1);
  result.set_float(wiring.beta, 0);
  result.finalize();
  return result;
}

Descriptor graph_of(const Descriptor& operation, cudnnHandle_t handle) {
  Descriptor result(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (handle != nullptr) {
    result.set_handle(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  }
  result.set_descriptor(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  result.finalize();
  return result;
}

}  // namespace

Descriptor tensor_descriptor(std::int64_t id, DType dtype,
                             const std::array<std::int64_t, 4>& extents, Order order) {
  const auto [batch, channels, height, width] = extents;
  const std::array<std::int64_t, 4> strides =
      order == Order::nhwc
          ? std::array{height * width * channels, std::int64_t{1}, width * channels, channels}
          : std::array{channels * height * width, height * width, width, std::int64_t{1}};
  Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set_integer(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  result.set_value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, data_type(dtype));
  result.set_integers(CUDNN_ATTR_TENSOR_DIMENSIONS, extents);
  result.set_integers(CUDNN_ATTR_TENSOR_STRIDES, strides);
  result.set_integer(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  result.finalize();
  return result;
}

ConvolutionGraph::ConvolutionGraph(const ConvolutionProblem& problem, cudnnHandle_t handle)
    : operation(operation_of(problem)), graph(graph_of(operation, handle)) {}

}  // namespace bench::cuda
