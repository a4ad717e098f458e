#pragma once

#include <cudnn.h>

#include <memory>

#include "kernels/cuda/backend/rnn_layers.h"

namespace bench::cuda {

/// Owns a descriptor of cuDNN's legacy interface.
template <class T>
using CudnnObject = std::unique_ptr<T, cudnnStatus_t (*)(T*)>;

/// A recurrent layer as cuDNN describes it: one pseudo-layer per direction. Needs no GPU.
///
/// All sequences have the same length, so packed and padded batches have the same layout in memory.
class RnnDescription {
 public:
  /// Throws DeviceError if cuDNN refuses the problem.
  RnnDescription(const RnnProblem& problem, bool tf32);

  [[nodiscard]] cudnnRNNDescriptor_t layer() const { return layer_.get(); }
  [[nodiscard]] cudnnRNNDataDescriptor_t x() const { return x_.get(); }
  [[nodiscard]] cudnnRNNDataDescriptor_t y() const { return y_.get(); }
  /// Describes the initial states h and c.
  [[nodiscard]] cudnnTensorDescriptor_t state() const { return state_.get(); }
  [[nodiscard]] cudnnForwardMode_t mode() const { return mode_; }
  /// Returns the sizes, and the offsets of the weights. Needs a handle for a present device.
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
