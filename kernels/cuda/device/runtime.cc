#include "kernels/cuda/device/runtime.h"

#include "models/base/errors.h"

namespace bench::cuda {

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) {
    return;
  }
  // Clears the error, so that the next launch does not report it again.
  static_cast<void>(cudaGetLastError());
  throw DeviceError(
      fmt::format("{}: {} ({})", call, cudaGetErrorString(status), cudaGetErrorName(status)));
}

}  // namespace bench::cuda
