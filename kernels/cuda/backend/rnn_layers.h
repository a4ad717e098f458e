#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/device/runtime.h"
#include "models/base/dtype.h"
#include "models/ops/rnn.h"

namespace bench::cuda {

/// The op `rnn` for sequences of the same length. Both biases exist.
struct RnnProblem {
  RnnCell cell = RnnCell::lstm;
  /// The type of all tensors and weights.
  DType dtype = DType::f32;
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t inputs = 0;
  std::int64_t units = 0;
  std::int64_t directions = 1;
  /// True if a backward follows the forward.
  bool training = false;
};

/// The memory that a library needs, in bytes.
struct RnnSpaces {
  /// All weights, in the library's order. Their gradients have the same order.
  std::size_t weights = 0;
  std::size_t workspace = 0;
  /// What the forward pass keeps for the backward pass; 0 without training.
  std::size_t reserve = 0;
  /// Offsets in the weights.
  struct Offsets {
    std::size_t matrix = 0;
    std::size_t bias = 0;
  };
  /// Two per direction and gate, in the op's order: those of w_x and b_x, then of w_h and b_h. The
  /// matrices are row-major: units x inputs, units x units.
  std::vector<Offsets> offsets;
};

/// Tensors as in the op `rnn`; weights and their gradients as in RnnSpaces.
struct RnnMemory {
  const void* x = nullptr;
  const void* weights = nullptr;
  void* y = nullptr;
  void* workspace = nullptr;
  void* reserve = nullptr;
};

struct RnnGradientMemory {
  const void* x = nullptr;
  const void* weights = nullptr;
  const void* y = nullptr;
  const void* dy = nullptr;
  void* dx = nullptr;
  /// Must be zero: the library adds to it.
  void* dweights = nullptr;
  void* workspace = nullptr;
  /// The forward pass's reserve. The backward pass overwrites it, so it can be used once.
  void* reserve = nullptr;
};

/// A layer on a device; made once, launched every step. forward() and backward() enqueue and return
/// without waiting. Each launch on the same inputs gives the same bits.
class RnnPlan {
 public:
  RnnPlan() = default;
  RnnPlan(const RnnPlan&) = delete;
  RnnPlan& operator=(const RnnPlan&) = delete;
  virtual ~RnnPlan() = default;
  /// One library call.
  virtual void forward(cudaStream_t stream, const RnnMemory& memory) = 0;
  /// Two library calls.
  virtual void backward(cudaStream_t stream, const RnnGradientMemory& memory) = 0;
};

struct RnnMethod {
  /// E.g. "cudnn:standard".
  std::string implementation;
  RnnSpaces spaces;
  std::function<std::unique_ptr<RnnPlan>()> make;
};

/// The source of recurrent layers: cuDNN, or the reference on an emulated GPU.
class RnnLayers {
 public:
  RnnLayers() = default;
  RnnLayers(const RnnLayers&) = delete;
  RnnLayers& operator=(const RnnLayers&) = delete;
  virtual ~RnnLayers() = default;
  /// Needs a present device. The cell must not be RnnCell::gru_reset_before.
  virtual RnnMethod method(const RnnProblem& problem) = 0;
};

}  // namespace bench::cuda
