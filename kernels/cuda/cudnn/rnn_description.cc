#include "kernels/cuda/cudnn/rnn_description.h"

#include <array>
#include <limits>
#include <vector>

#include "kernels/cuda/cudnn/descriptor.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

int to_int(std::int64_t extent) {
  check(extent <= std::numeric_limits<int>::max(), "cudnn: an extent exceeds 2^31 - 1");
  return static_cast<int>(extent);
}

template <class T>
CudnnObject<T> make_object(cudnnStatus_t (*create)(T**), cudnnStatus_t (*destroy)(T*),
                           std::string_view call) {
  T* object = nullptr;
  check_cudnn(create(&object), call);
  return {object, destroy};
}

CudnnObject<cudnnTensorStruct> make_tensor() {
  return make_object(cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor,
                     "cudnnCreateTensorDescriptor");
}

CudnnObject<cudnnRNNDataStruct> make_sequences(const RnnProblem& problem, std::int64_t width) {
  auto sequences = make_object(cudnnCreateRNNDataDescriptor, cudnnDestroyRNNDataDescriptor,
                               "cudnnCreateRNNDataDescriptor");
  const std::vector<int> lengths(static_cast<std::size_t>(problem.batch), to_int(problem.steps));
  check_cudnn(
      cudnnSetRNNDataDescriptor(sequences.get(), data_type(problem.dtype),
                                CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, to_int(problem.steps),
                                to_int(problem.batch), to_int(width), lengths.data(), nullptr),
      "cudnnSetRNNDataDescriptor");
  return sequences;
}

cudnnRNNMode_t mode_of(RnnCell cell) {
  switch (cell) {
    case RnnCell::relu:
      return CUDNN_RNN_RELU;
    case RnnCell::tanh:
      return CUDNN_RNN_TANH;
    case RnnCell::lstm:
      return CUDNN_LSTM;
    case RnnCell::gru_reset_after:
      return CUDNN_GRU;
    case RnnCell::gru_reset_before:
      break;
  }
  throw InternalError(fmt::format("cudnn has no {}", name_of(cell)));
}

std::int64_t elements_of(cudnnTensorDescriptor_t tensor) {
  std::array<int, CUDNN_DIM_MAX> extents = {};
  std::array<int, CUDNN_DIM_MAX> strides = {};
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int rank = 0;
  check_cudnn(cudnnGetTensorNdDescriptor(tensor, CUDNN_DIM_MAX, &type, &rank, extents.data(),
                                         strides.data()),
              "cudnnGetTensorNdDescriptor");
  std::int64_t elements = 1;
  for (int axis = 0; axis < rank; ++axis) {
    elements *= extents[static_cast<std::size_t>(axis)];
  }
  return elements;
}

/// cuDNN's number of a gate. Its GRU has the order r, z, n.
std::int64_t cudnn_gate(RnnCell cell, std::int64_t gate) {
  return cell == RnnCell::gru_reset_after && gate < 2 ? 1 - gate : gate;
}

}  // namespace

RnnDescription::RnnDescription(const RnnProblem& problem, bool tf32)
    : problem_(problem),
      mode_(problem.training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE),
      layer_(make_object(cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor,
                         "cudnnCreateRNNDescriptor")),
      x_(make_sequences(problem, problem.inputs)),
      y_(make_sequences(problem, problem.directions * problem.units)),
      state_(make_tensor()) {
  const cudnnMathType_t f32_math = tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
  const int units = to_int(problem.units);
  check_cudnn(
      cudnnSetRNNDescriptor_v8(layer_.get(), CUDNN_RNN_ALGO_STANDARD, mode_of(problem.cell),
                               CUDNN_RNN_DOUBLE_BIAS,
                               problem.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                               CUDNN_LINEAR_INPUT, data_type(problem.dtype), CUDNN_DATA_FLOAT,
                               problem.dtype == DType::f32 ? f32_math : CUDNN_TENSOR_OP_MATH,
                               to_int(problem.inputs), units, /*projSize=*/units, /*numLayers=*/1,
                               /*dropoutDesc=*/nullptr, CUDNN_RNN_PADDED_IO_DISABLED),
      "cudnnSetRNNDescriptor_v8");
  const std::array extents{to_int(problem.directions), to_int(problem.batch), units};
  const std::array strides{extents[1] * extents[2], extents[2], 1};
  check_cudnn(
      cudnnSetTensorNdDescriptor(state_.get(), data_type(problem.dtype),
                                 static_cast<int>(extents.size()), extents.data(), strides.data()),
      "cudnnSetTensorNdDescriptor");
}

RnnSpaces RnnDescription::spaces(cudnnHandle_t handle) const {
  RnnSpaces spaces;
  check_cudnn(cudnnGetRNNWeightSpaceSize(handle, layer(), &spaces.weights),
              "cudnnGetRNNWeightSpaceSize");
  check_cudnn(
      cudnnGetRNNTempSpaceSizes(handle, layer(), mode_, x(), &spaces.workspace, &spaces.reserve),
      "cudnnGetRNNTempSpaceSizes");
  if (!problem_.training) {
    spaces.reserve = 0;
  }
  const auto matrix = make_tensor();
  const auto bias = make_tensor();
  const std::int64_t gates = gates_of(problem_.cell);
  // A dummy address: cuDNN only adds offsets to it.
  constexpr std::uintptr_t kBegin = 4096;
  // NOLINTNEXTLINE(*-reinterpret-cast, performance-no-int-to-ptr)
  const auto* const begin = reinterpret_cast<const std::byte*>(kBegin);
  const auto offset = [&](const void* address, cudnnTensorDescriptor_t tensor,
                          std::int64_t expected) {
    check(address != nullptr, "cudnnGetRNNWeightParams returned no address");
    const auto result = static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin);
    check(
        elements_of(tensor) == expected &&
            result + static_cast<std::size_t>(expected) * size_of(problem_.dtype) <= spaces.weights,
        "cudnnGetRNNWeightParams returned an unexpected size or offset");
    return result;
  };
  for (std::int64_t direction = 0; direction < problem_.directions; ++direction) {
    for (std::int64_t gate = 0; gate < gates; ++gate) {
      for (const bool hidden : {false, true}) {
        void* of_matrix = nullptr;
        void* of_bias = nullptr;
        const std::int64_t number = (hidden ? gates : 0) + cudnn_gate(problem_.cell, gate);
        check_cudnn(
            cudnnGetRNNWeightParams(handle, layer(), to_int(direction), spaces.weights, begin,
                                    to_int(number), matrix.get(), &of_matrix, bias.get(), &of_bias),
            "cudnnGetRNNWeightParams");
        const std::int64_t width = hidden ? problem_.units : problem_.inputs;
        spaces.offsets.push_back({.matrix = offset(of_matrix, matrix.get(), problem_.units * width),
                                  .bias = offset(of_bias, bias.get(), problem_.units)});
      }
    }
  }
  return spaces;
}

}  // namespace bench::cuda
