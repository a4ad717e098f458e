#pragma once

#include <cstddef>
#include <span>

#include "kernels/cuda/device/runtime.h"

namespace bench::cuda {

/// A table in device memory, initialized at construction; kernels may overwrite it.
template <class T>
class DeviceTable {
 public:
  /// Waits until the rows are on the device.
  explicit DeviceTable(std::span<const T> rows) : size_(rows.size()) {
    if (size_ > 0) {
      check_cuda(cudaMalloc(&data_, rows.size_bytes()), "cudaMalloc");
      check_cuda(cudaMemcpy(data_, rows.data(), rows.size_bytes(), cudaMemcpyHostToDevice),
                 "cudaMemcpy");
      // A copy from pageable memory may return before the device has the data, and other streams do
      // not wait for the default one.
      check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    }
  }
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;
  ~DeviceTable() { static_cast<void>(cudaFree(data_)); }

  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_;
};

}  // namespace bench::cuda
