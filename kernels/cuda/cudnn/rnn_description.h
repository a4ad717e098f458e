#pragma once

#include <cudnn.h>

#include <memory>
#include <string>

#include "kernels/cuda/backend/rnn_layers.h"

namespace bench::cuda {

/// Owns a descriptor of cuDNN's legacy interface.
template <class T>
using CudnnObject = std::unique_ptr<T, cudnnStatus_t (*)(T*)>;

/// A recurrent layer as cuDNN describes it: one pseudo-layer per direction. Needs no GPU.
///
/// All sequences have the same length, so packed and padded batches have the same layout in memory.
/// Persistent algorithms need both biases.
class RnnDescription {
 public:
  /// Throws DeviceError if cuDNN refuses the algorithm for the problem.
  RnnDescription(const RnnProblem& problem, cudnnRNNAlgo_t algorithm, bool tf32);

  [[nodiscard]] cudnnRNNDescriptor_t layer() const { return layer_.get(); }
  [[nodiscard]] cudnnRNNDataDescriptor_t x() const { return x_.get(); }
  [[nodiscard]] cudnnRNNDataDescriptor_t y() const { return y_.get(); }
  /// The states h and c before the first step.
  [[nodiscard]] cudnnTensorDescriptor_t state() const { return state_.get(); }
  [[nodiscard]] cudnnForwardMode_t mode() const { return mode_; }
  /// Asks for the memory. Needs a handle of a present device.
  [[nodiscard]] RnnSpaces spaces(cudnnHandle_t handle) const;

 private:
  RnnProblem problem_;
  cudnnForwardMode_t mode_;
  CudnnObject<cudnnRNNStruct> layer_;
  CudnnObject<cudnnRNNDataStruct> x_;
  CudnnObject<cudnnRNNDataStruct> y_;
  CudnnObject<cudnnTensorStruct> state_;
};

}  // namespace bench::cuda
