#include "kernels/cuda/device/memory.h"

#include <cstring>

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/device/stream.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

/// The code and internal workspaces of cuDNN and cuBLASLt, loaded at their first use: about 600 MB
/// with CUDA 13, according to their vendors.
constexpr std::size_t kLibraryBytes = std::size_t{768} << 20U;

class GpuMemory final : public DeviceMemory {
 public:
  explicit GpuMemory(std::size_t bytes) {
    if (bytes == 0) {
      return;
    }
    if (const cudaError_t status = cudaMalloc(&data_, bytes); status != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      throw DeviceError(fmt::format("cudaMalloc of {} bytes failed with {} bytes free: {}", bytes,
                                    free_bytes(), cudaGetErrorString(status)));
    }
    // Nothing may wait for the whole device: another tower may be capturing a stream.
    GpuStream stream;
    stream.fill(data_, std::byte{0}, bytes);
    stream.synchronize();
  }
  ~GpuMemory() override { static_cast<void>(cudaFree(data_)); }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  [[nodiscard]] std::byte* data() const override { return static_cast<std::byte*>(data_); }

  static std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }

 private:
  void* data_ = nullptr;
};

class PinnedMemory final : public DeviceMemory {
 public:
  explicit PinnedMemory(std::size_t bytes) {
    if (bytes > 0) {
      check_cuda(cudaMallocHost(&data_, bytes), "cudaMallocHost");
      std::memset(data_, 0, bytes);
    }
  }
  ~PinnedMemory() override { static_cast<void>(cudaFreeHost(data_)); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  [[nodiscard]] std::byte* data() const override { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

}  // namespace

std::unique_ptr<DeviceMemory> allocate_gpu_memory(std::size_t bytes) {
  return std::make_unique<GpuMemory>(bytes);
}

std::unique_ptr<DeviceMemory> allocate_pinned_memory(std::size_t bytes) {
  return std::make_unique<PinnedMemory>(bytes);
}

bool reaches_memory(int device, const void* memory) {
  cudaPointerAttributes of{};
  check_cuda(cudaPointerGetAttributes(&of, memory), "cudaPointerGetAttributes");
  if (of.type != cudaMemoryTypeDevice) {
    return false;
  }
  if (of.device == device) {
    return true;
  }
  int reachable = 0;
  check_cuda(cudaDeviceCanAccessPeer(&reachable, device, of.device), "cudaDeviceCanAccessPeer");
  if (reachable == 0) {
    return false;
  }
  // Access may be enabled already. It may also be refused, for example to a device with many peers.
  const cudaError_t status = cudaDeviceEnablePeerAccess(of.device, 0);
  static_cast<void>(cudaGetLastError());
  return status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;
}

std::size_t free_gpu_memory(int device) {
  int current = 0;
  check_cuda(cudaGetDevice(&current), "cudaGetDevice");
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const std::size_t free = GpuMemory::free_bytes();
  check_cuda(cudaSetDevice(current), "cudaSetDevice");
  return free > kLibraryBytes ? free - kLibraryBytes : 0;
}

}  // namespace bench::cuda
