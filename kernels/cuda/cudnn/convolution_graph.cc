#include "kernels/cuda/cudnn/convolution_graph.h"

#include <optional>
#include <span>

#include "models/base/errors.h"

namespace bench::cuda {
namespace {

using Pass = ConvolutionProblem::Pass;

/// The alignment that the widest loads need; our memory has a larger one.
constexpr std::int64_t kAlignment = 16;
/// Ids of the virtual tensors start here.
constexpr std::int64_t kFirstVirtualTensor = 10;

/// A tensor except for its extents.
struct Described {
  std::int64_t id = 0;
  DType dtype = DType::f32;
  /// False for a virtual tensor between two operations of a graph.
  bool in_memory = true;
};

Descriptor describe(const Described& tensor, const std::array<std::int64_t, 4>& extents,
                    Order order) {
  const auto [batch, channels, height, width] = extents;
  const std::array<std::int64_t, 4> strides =
      order == Order::nhwc
          ? std::array{height * width * channels, std::int64_t{1}, width * channels, channels}
          : std::array{channels * height * width, height * width, width, std::int64_t{1}};
  Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set_integer(CUDNN_ATTR_TENSOR_UNIQUE_ID, tensor.id);
  result.set_value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, data_type(tensor.dtype));
  result.set_integers(CUDNN_ATTR_TENSOR_DIMENSIONS, extents);
  result.set_integers(CUDNN_ATTR_TENSOR_STRIDES, strides);
  result.set_integer(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  if (!tensor.in_memory) {
    result.set_value(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true);
  }
  result.finalize();
  return result;
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

/// The operation of a pass and its attributes: the convolution, the factors, and the roles of a
/// ConvolutionMemory's first, second and result.
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

/// The index of x among a launch's first, second and result.
std::size_t position_of_x(Pass pass) { return pass == Pass::forward ? 0 : 1; }

/// The operation, with `result` in place of the launch's third tensor. `x` replaces x unless it is
/// null.
Descriptor convolution_operation(const ConvolutionProblem& problem, const Descriptor& result,
                                 const Descriptor* x = nullptr) {
  const Wiring wiring = wiring_of(problem.pass);
  const auto extents = extents_of(problem);
  Descriptor operation(wiring.operation);
  for (const std::size_t i : {0U, 1U}) {
    if (x != nullptr && i == position_of_x(problem.pass)) {
      operation.set_descriptor(wiring.tensors[i], *x);
      continue;
    }
    operation.set_descriptor(
        wiring.tensors[i],
        tensor_descriptor(kConvolutionTensors[i], problem.dtype, extents[i], problem.order));
  }
  operation.set_descriptor(wiring.tensors[2], result);
  operation.set_descriptor(wiring.convolution, window_descriptor(problem.window));
  operation.set_float(wiring.alpha, 1);
  operation.set_float(wiring.beta, 0);
  operation.finalize();
  return operation;
}

/// y = x + other, x * other, or f(x) if `other` is null, depending on the mode; all in f32.
Descriptor pointwise_operation(cudnnPointwiseMode_t mode, const Descriptor& x,
                               const Descriptor* other, const Descriptor& y) {
  Descriptor pointwise(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  pointwise.set_value(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
  pointwise.set_value(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  if (mode == CUDNN_POINTWISE_RELU_FWD) {
    // NaNs must propagate: the default turns them into zeros.
    pointwise.set_value(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION,
                        CUDNN_PROPAGATE_NAN);
  }
  pointwise.finalize();
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (other != nullptr) {
    operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
  }
  operation.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  operation.finalize();
  return operation;
}

/// The operations of a forward convolution and its epilogue.
std::vector<Descriptor> fused_operations(const ConvolutionProblem& problem) {
  const Epilogue& epilogue = problem.epilogue;
  struct Part {
    cudnnPointwiseMode_t mode;
    std::optional<Descriptor> other = {};
  };
  std::vector<Part> parts;
  if (epilogue.residual) {
    parts.push_back(
        {.mode = CUDNN_POINTWISE_ADD,
         .other = tensor_descriptor(kResidualTensor, problem.dtype, problem.y, problem.order)});
  }
  parts.push_back({.mode = CUDNN_POINTWISE_ADD,
                   .other = tensor_descriptor(kBiasTensor, problem.dtype, {1, problem.y[1], 1, 1},
                                              problem.order)});
  if (epilogue.activation == ActivationKind::relu) {
    parts.push_back({.mode = CUDNN_POINTWISE_RELU_FWD});
  }
  // The tensors between the operations; the last operation writes y.
  std::vector<Descriptor> tensors;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto id = kFirstVirtualTensor + static_cast<std::int64_t>(i);
    tensors.push_back(
        describe({.id = id, .dtype = DType::f32, .in_memory = false}, problem.y, problem.order));
  }
  tensors.push_back(
      tensor_descriptor(kConvolutionTensors[2], problem.dtype, problem.y, problem.order));
  std::vector<Descriptor> operations;
  operations.push_back(convolution_operation(problem, tensors[0]));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    operations.push_back(pointwise_operation(part.mode, tensors[i],
                                             part.other ? &*part.other : nullptr, tensors[i + 1]));
  }
  return operations;
}

/// Appends the operations of the prologue and returns the tensor that the convolution reads.
Descriptor add_prologue(const ConvolutionProblem& problem, std::vector<Descriptor>& operations) {
  const std::array<std::int64_t, 4> per_channel{1, problem.x[1], 1, 1};
  const auto vector = [&](std::int64_t id) {
    return tensor_descriptor(id, problem.dtype, per_channel, problem.order);
  };
  const auto between = [&](std::int64_t number) {
    return describe(
        {.id = kFirstVirtualTensor + number, .dtype = problem.dtype, .in_memory = false}, problem.x,
        problem.order);
  };
  const Descriptor x = tensor_descriptor(kConvolutionTensors[position_of_x(problem.pass)],
                                         problem.dtype, problem.x, problem.order);
  const Descriptor scale = vector(kScaleTensor);
  const Descriptor shift = vector(kShiftTensor);
  const Descriptor scaled = between(0);
  const Descriptor shifted = between(1);
  Descriptor result = between(2);
  operations.push_back(pointwise_operation(CUDNN_POINTWISE_MUL, x, &scale, scaled));
  operations.push_back(pointwise_operation(CUDNN_POINTWISE_ADD, scaled, &shift, shifted));
  operations.push_back(pointwise_operation(CUDNN_POINTWISE_RELU_FWD, shifted, nullptr, result));
  return result;
}

/// The sums and the sums of squares of y, over all but its channels.
Descriptor statistics_operation(const ConvolutionProblem& problem, const Descriptor& y) {
  const std::array<std::int64_t, 4> per_channel{1, problem.y[1], 1, 1};
  Descriptor operation(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
  operation.set_value(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE,
                      CUDNN_GENSTATS_SUM_SQSUM);
  operation.set_value(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
                      CUDNN_DATA_FLOAT);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, y);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC,
                           tensor_descriptor(kSumsTensor, DType::f32, per_channel, problem.order));
  operation.set_descriptor(
      CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC,
      tensor_descriptor(kSquaresTensor, DType::f32, per_channel, problem.order));
  operation.finalize();
  return operation;
}

std::vector<Descriptor> operations_of(const ConvolutionProblem& problem) {
  check(in_one_graph(problem),
        fmt::format("cudnn: one graph cannot hold this convolution (bias {}, residual {}, "
                    "activation kind {}, statistics {}, prologue {})",
                    problem.epilogue.bias, problem.epilogue.residual,
                    static_cast<int>(problem.epilogue.activation), problem.statistics,
                    problem.prologue));
  if (!problem.epilogue.empty()) {
    return fused_operations(problem);
  }
  const Descriptor result = tensor_descriptor(kConvolutionTensors[2], problem.dtype,
                                              extents_of(problem)[2], problem.order);
  std::vector<Descriptor> operations;
  if (problem.prologue) {
    const Descriptor x = add_prologue(problem, operations);
    operations.push_back(convolution_operation(problem, result, &x));
  } else {
    operations.push_back(convolution_operation(problem, result));
  }
  if (problem.statistics) {
    operations.push_back(statistics_operation(problem, result));
  }
  return operations;
}

Descriptor graph_of(const std::vector<Descriptor>& operations, cudnnHandle_t handle) {
  Descriptor result(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (handle != nullptr) {
    result.set_handle(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  }
  result.set_descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  result.finalize();
  return result;
}

}  // namespace

Descriptor tensor_descriptor(std::int64_t id, DType dtype,
                             const std::array<std::int64_t, 4>& extents, Order order) {
  return describe({.id = id, .dtype = dtype}, extents, order);
}

ConvolutionGraph::ConvolutionGraph(const ConvolutionProblem& problem, cudnnHandle_t handle)
    : operations(operations_of(problem)), graph(graph_of(operations, handle)) {}

}  // namespace bench::cuda
