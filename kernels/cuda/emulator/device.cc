// The calls about devices: there is one, small enough that loops over a grid go round several
// times.

#include <cstring>
#include <string_view>

#include "kernels/cuda/emulator/block.h"
#include "kernels/cuda/emulator/machine.h"

using bench::cuda::emulator::call;
using bench::cuda::emulator::Call;
using bench::cuda::emulator::Machine;

namespace {

constexpr int kVersion = 13000;
constexpr int kKiB = 1024;

cudaDeviceProp properties_of_device(std::size_t memory_bytes) {
  return {.name = "Emulated GPU",
          .totalGlobalMem = memory_bytes,
          .sharedMemPerBlock = bench::cuda::emulator::kSharedBytes,
          .warpSize = static_cast<int>(bench::cuda::emulator::kWarpLanes),
          .maxThreadsPerBlock = static_cast<int>(bench::cuda::emulator::kMostLanes),
          .major = 9,
          .minor = 0,
          .multiProcessorCount = 4,
          .memoryBusWidth = 5120,
          .l2CacheSize = 1024 * kKiB,
          .maxThreadsPerMultiProcessor = 2048,
          .sharedMemPerMultiprocessor = std::size_t{228} * kKiB,
          .sharedMemPerBlockOptin = std::size_t{227} * kKiB,
          .maxBlocksPerMultiProcessor = 32};
}

cudaError_t value_of(cudaDeviceAttr attribute, const cudaDeviceProp& device, int* value) {
  constexpr int kClockKHz = 1'000'000;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = device.maxThreadsPerBlock;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(device.sharedMemPerBlock);
      return cudaSuccess;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      *value = kClockKHz;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = device.multiProcessorCount;
      return cudaSuccess;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = device.memoryBusWidth;
      return cudaSuccess;
    case cudaDevAttrL2CacheSize:
      *value = device.l2CacheSize;
      return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = device.maxThreadsPerMultiProcessor;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = device.major;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = device.minor;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(device.sharedMemPerMultiprocessor);
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(device.sharedMemPerBlockOptin);
      return cudaSuccess;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = device.maxBlocksPerMultiProcessor;
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  return call(Call::work,
              [&](Machine&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call(Call::work, [&](Machine& machine) {
    if (device != 0) {
      return cudaErrorInvalidDevice;
    }
    *properties = properties_of_device(machine.memory().limit());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call(Call::work, [&](Machine& machine) {
    return device != 0 ? cudaErrorInvalidDevice
                       : value_of(attribute, properties_of_device(machine.memory().limit()), value);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  constexpr std::string_view kBus = "0000:00:00.0";
  if (device != 0) {
    return cudaErrorInvalidDevice;
  }
  if (length <= static_cast<int>(kBus.size())) {
    return cudaErrorInvalidValue;
  }
  text[kBus.copy(text, kBus.size())] = '\0';
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  return call(Call::work, [](Machine& machine) {
    const cudaError_t status = machine.refuse_in_capture("cudaDeviceSynchronize");
    return status == cudaSuccess ? machine.wait_for_all() : status;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}
