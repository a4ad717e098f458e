#pragma once

// Shared by the emulator's tests. Each planted mistake has a twin that differs in nothing else and
// passes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cuda/device/device_api.h"

namespace bench::cuda::emulator {

/// Ascending, descending, and two drawn orders.
constexpr std::uint64_t kLaneOrders[] = {0, 1, 2, 7};

/// Starts and ends with a device in its initial state.
class EmulatedTest : public testing::Test {
 public:
  EmulatedTest() { as_at_first(); }
  EmulatedTest(const EmulatedTest&) = delete;
  EmulatedTest& operator=(const EmulatedTest&) = delete;
  ~EmulatedTest() override { as_at_first(); }

 private:
  static void as_at_first() {
    reset_device();
    set_schedule(0);
    set_lane_order(0);
    set_repetition(false);
  }
};

inline void require(cudaError_t status) { check_cuda(status, "a call that has to succeed"); }

/// Device memory, uninitialized unless values are given.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t count) : count_(count) {
    void* address = nullptr;
    require(cudaMalloc(&address, count * sizeof(T)));
    data_ = static_cast<T*>(address);
  }
  explicit OnDevice(const std::vector<T>& values) : OnDevice(values.size()) { set(values); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { free(); }

  [[nodiscard]] T* data() const { return data_; }
  void free() {
    if (data_ != nullptr) {
      EXPECT_EQ(cudaFree(data_), cudaSuccess);
      data_ = nullptr;
    }
  }
  void set(const std::vector<T>& values) {
    require(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    // The copy may continue after the call returns, and non-blocking streams do not wait for it.
    require(cudaStreamSynchronize(nullptr));
  }
  /// Waits for all streams.
  [[nodiscard]] std::vector<T> values() const {
    require(cudaDeviceSynchronize());
    return values_now();
  }
  /// Waits only for its copy, on a non-blocking stream.
  [[nodiscard]] std::vector<T> values_now() const {
    std::vector<T> values(count_);
    cudaStream_t stream = nullptr;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    require(
        cudaMemcpyAsync(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, stream));
    require(cudaStreamDestroy(stream));
    return values;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

/// Host memory that the device can access.
template <class T>
class Pinned {
 public:
  explicit Pinned(const std::vector<T>& values) {
    void* address = nullptr;
    require(cudaMallocHost(&address, values.size() * sizeof(T)));
    data_ = static_cast<T*>(address);
    std::copy(values.begin(), values.end(), data_);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { free(); }

  [[nodiscard]] T* data() const { return data_; }
  T& operator[](std::size_t index) const { return data_[index]; }
  void free() {
    if (data_ != nullptr) {
      EXPECT_EQ(cudaFreeHost(data_), cudaSuccess);
      data_ = nullptr;
    }
  }

 private:
  T* data_ = nullptr;
};

/// A non-blocking stream.
class Stream {
 public:
  Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }
  // NOLINTNEXTLINE(google-explicit-constructor): it stands where CUDA's handle does
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { require(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { EXPECT_EQ(cudaEventDestroy(event_), cudaSuccess); }
  // NOLINTNEXTLINE(google-explicit-constructor): it stands where CUDA's handle does
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Does the work, waits for the device, and returns the failure, or "". Then resets the device.
inline std::string failure_of(const std::function<void()>& work) {
  std::string failure;
  try {
    work();
    if (const cudaError_t status = cudaDeviceSynchronize(); status != cudaSuccess) {
      failure = cudaGetErrorString(status);
    }
  } catch (const std::exception& error) {
    failure = error.what();
  }
  reset_device();
  return failure;
}

/// The same, with every kernel repeated in other orders and over other bytes.
inline std::string repeated_failure_of(const std::function<void()>& work) {
  set_repetition(true);
  std::string failure = failure_of(work);
  set_repetition(false);
  return failure;
}

/// Clears a status, so that no later call returns it again.
inline cudaError_t asked(cudaError_t status) {
  static_cast<void>(cudaGetLastError());
  return status;
}

/// The message of a refused call, or "" if it was accepted.
inline std::string refusal_of(cudaError_t status) {
  return asked(status) == cudaSuccess ? "" : cudaGetErrorString(status);
}

}  // namespace bench::cuda::emulator
