#pragma once

#include <string>

#include "kernels/cuda/device/runtime.h"

namespace bench::cuda {

/// Makes a device the current one of this thread during its lifetime.
class CurrentDevice {
 public:
  explicit CurrentDevice(const std::string& pci_bus_id) {
    check_cuda(cudaGetDevice(&before_), "cudaGetDevice");
    int device = 0;
    check_cuda(cudaDeviceGetByPCIBusId(&device, pci_bus_id.c_str()), "cudaDeviceGetByPCIBusId");
    check_cuda(cudaSetDevice(device), "cudaSetDevice");
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(before_)); }

 private:
  int before_ = 0;
};

}  // namespace bench::cuda
