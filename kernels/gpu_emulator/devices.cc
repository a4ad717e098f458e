// The device calls. All devices are alike except for their capabilities, and small enough that
// loops over a grid run several times.

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#include "kernels/gpu_emulator/block.h"
#include "kernels/gpu_emulator/machine.h"
#include "models/base/errors.h"

using bench::cuda::emulator::call;
using bench::cuda::emulator::Call;
using bench::cuda::emulator::Machine;

namespace {

constexpr int kVersion = 13000;
constexpr int kKiB = 1024;

constexpr int kMostDevices = 8;
constexpr int kUsualCapability = 90;
constinit std::atomic<int> device_count = 1;
/// Each device's capability minus the usual one.
constinit std::array<std::atomic<int>, kMostDevices> unusual_capability{};
constinit thread_local int device_of_thread = 0;

bool is_device(int device) { return device >= 0 && device < device_count; }

cudaDeviceProp properties_of_device(int device, std::size_t memory_bytes) {
  const int capability = kUsualCapability + unusual_capability[static_cast<std::size_t>(device)];
  return {.name = "Emulated GPU",
          .totalGlobalMem = memory_bytes,
          .sharedMemPerBlock = bench::cuda::emulator::kSharedBytes,
          .warpSize = static_cast<int>(bench::cuda::emulator::kWarpLanes),
          .maxThreadsPerBlock = static_cast<int>(bench::cuda::emulator::kMostLanes),
          .major = capability / 10,
          .minor = capability % 10,
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

void bench::cuda::emulator::set_devices(int count) {
  check(count >= 1 && count <= kMostDevices,
        fmt::format("emulated GPUs: {} were requested; accepted: 1 to 8", count));
  device_count = count;
}

void bench::cuda::emulator::set_capability(int device, int capability) {
  check(device >= 0 && device < kMostDevices,
        fmt::format("emulated GPUs: device {} does not exist", device));
  unusual_capability[static_cast<std::size_t>(device)] = capability - kUsualCapability;
}

void bench::cuda::emulator::set_peer_access(bool possible) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.lock());
  machine.peers_possible = possible;
  machine.peers.clear();
}

int bench::cuda::emulator::current_device() { return device_of_thread; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  return call(Call::work, [&](Machine&) {
    if (!is_device(device)) {
      return cudaErrorInvalidDevice;
    }
    device_of_thread = device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  *device = device_of_thread;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call(Call::work, [&](Machine& machine) {
    if (!is_device(device)) {
      return cudaErrorInvalidDevice;
    }
    *properties = properties_of_device(device, machine.memory().limit());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call(Call::work, [&](Machine& machine) {
    return !is_device(device)
               ? cudaErrorInvalidDevice
               : value_of(attribute, properties_of_device(device, machine.memory().limit()), value);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  constexpr std::string_view kBus = "0000:00:00.0";
  if (!is_device(device)) {
    return cudaErrorInvalidDevice;
  }
  if (length <= static_cast<int>(kBus.size())) {
    return cudaErrorInvalidValue;
  }
  text[kBus.copy(text, kBus.size())] = '\0';
  text[kBus.size() - 1] = static_cast<char>('0' + device);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  return call(Call::work, [](Machine& machine) {
    const cudaError_t status = machine.refuse_while_capturing("cudaDeviceSynchronize");
    return status == cudaSuccess ? machine.wait_for_device() : status;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call(Call::work, [&](Machine& machine) {
    if (!is_device(device) || !is_device(peer)) {
      return cudaErrorInvalidDevice;
    }
    *can = machine.peers_possible && device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call(Call::work, [&](Machine& machine) {
    if (!is_device(peer) || peer == device_of_thread || !machine.peers_possible) {
      return cudaErrorInvalidDevice;
    }
    if (flags != 0) {
      return cudaErrorInvalidValue;
    }
    const bool inserted = machine.peers.emplace(device_of_thread, peer).second;
    return inserted ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
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
