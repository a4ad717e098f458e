#include "kernels/cuda/device/device.h"

#include <array>

#include "kernels/cuda/device/properties_file.h"
#include "kernels/cuda/device/runtime.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

/// The lowest compute capability that nvcc 13 compiles for.
constexpr int kLeastCapability = 75;

/// Formats 13000 as 13.0.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

int attribute(int device, cudaDeviceAttr name) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, name, device), "cudaDeviceGetAttribute");
  return value;
}

std::string pci_bus_id(int device) {
  std::array<char, 16> text{};
  check_cuda(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
             "cudaDeviceGetPCIBusId");
  return text.data();
}

int count_devices() {
  int driver = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  if (driver == 0) {
    throw UsageError("the NVIDIA driver is not installed");
  }
  int runtime = 0;
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  if (driver / 1000 < runtime / 1000) {
    throw UsageError(fmt::format(
        "the NVIDIA driver supports CUDA {}, but this program needs CUDA {}; update the driver",
        version_text(driver), version_text(runtime)));
  }
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  if (status != cudaSuccess) {
    throw UsageError(
        fmt::format("the NVIDIA driver offers no GPU: {}", cudaGetErrorString(status)));
  }
  if (count == 0) {
    throw UsageError("the NVIDIA driver offers no GPU");
  }
  return count;
}

int capability_of(const cudaDeviceProp& read) { return 10 * read.major + read.minor; }

/// The described card with the highest capability up to this one; it provides what CUDA does not
/// report.
DeviceProperties nearest_description(int capability) {
  DeviceProperties nearest = described_cards().front();
  for (const DeviceProperties& card : described_cards()) {
    if (card.capability <= capability && card.capability > nearest.capability) {
      nearest = card;
    }
  }
  return nearest;
}

/// Requires a device of a supported capability.
DeviceProperties properties_of_device(int device, const cudaDeviceProp& read) {
  const int capability = capability_of(read);
  DeviceProperties properties = nearest_description(capability);
  properties.name = read.name;
  properties.capability = capability;
  properties.pci_bus_id = pci_bus_id(device);
  properties.memory_bytes = static_cast<std::int64_t>(read.totalGlobalMem);
  properties.l2_bytes = read.l2CacheSize;
  properties.max_threads_per_multiprocessor = read.maxThreadsPerMultiProcessor;
  properties.max_shared_memory_per_block = static_cast<int>(read.sharedMemPerBlockOptin);
  properties.clock_khz = attribute(device, cudaDevAttrClockRate);
  properties.memory_clock_khz = attribute(device, cudaDevAttrMemoryClockRate);
  // The described card's speeds, scaled by the number of multiprocessors.
  const double share = static_cast<double>(read.multiProcessorCount) / properties.multiprocessors;
  properties.multiprocessors = read.multiProcessorCount;
  properties.sheet.flops_per_second_16 *= share;
  properties.sheet.flops_per_second_tf32 *= share;
  properties.sheet.flops_per_second_32 *= share;
  constexpr double kTransfersPerClock = 2;
  constexpr double kBitsPerByte = 8;
  const double bus = attribute(device, cudaDevAttrGlobalMemoryBusWidth);
  if (bus > 0 && properties.memory_clock_khz > 0) {
    properties.sheet.bytes_per_second =
        kTransfersPerClock * 1e3 * properties.memory_clock_khz * bus / kBitsPerByte;
  }
  return properties;
}

}  // namespace

PresentDevices present_devices() {
  PresentDevices devices;
  std::string too_old;
  const int count = count_devices();
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp read{};
    check_cuda(cudaGetDeviceProperties(&read, device), "cudaGetDeviceProperties");
    if (capability_of(read) >= kLeastCapability) {
      devices.usable.push_back(
          {.properties = properties_of_device(device, read), .ordinal = device});
      continue;
    }
    devices.left_out.push_back(
        fmt::format("GPU {} ({}) is skipped: it has compute capability {}.{}, but this program "
                    "needs at least 7.5",
                    device, read.name, read.major, read.minor));
    too_old += too_old.empty() ? "" : ", ";
    too_old += fmt::format("GPU {} ({}) has {}.{}", device, read.name, read.major, read.minor);
  }
  if (devices.usable.empty()) {
    throw UsageError(
        fmt::format("this program needs compute capability 7.5 or newer, but {}", too_old));
  }
  return devices;
}

std::string driver_version() {
  int driver = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return version_text(driver);
}

DeviceProperties described_device(std::string_view card) {
  if (const auto found = properties_of(card)) {
    return *found;
  }
  return read_description(std::string(card));
}

}  // namespace bench::cuda
