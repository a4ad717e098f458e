#include "kernels/cuda/runtime.h"

#include "models/base/errors.h"

namespace bench::cuda {

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) {
    return;
  }
  // So that nobody meets it again at the next launch.
  static_cast<void>(cudaGetLastError());
  throw DeviceError(
      cat(call, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")"));
}

}  // namespace bench::cuda
