#pragma once

#include <cudnn.h>

#include "kernels/cuda/cudnn/descriptor.h"

namespace bench::cuda {

/// A handle for the current device, created at its first use. Planning for a described device needs
/// none.
class Handle {
 public:
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (handle_ != nullptr) {
      static_cast<void>(cudnnDestroy(handle_));
    }
  }

  cudnnHandle_t get() {
    if (handle_ == nullptr) {
      check_cudnn(cudnnCreate(&handle_), "cudnnCreate");
    }
    return handle_;
  }
  /// The handle, set to the stream for the next execution.
  cudnnHandle_t on(cudaStream_t stream) {
    check_cudnn(cudnnSetStream(get(), stream), "cudnnSetStream");
    return handle_;
  }

 private:
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace bench::cuda
