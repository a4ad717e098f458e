#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cuda/device/runtime.h"
#include "kernels/stream.h"

namespace bench::cuda {

/// The priority of a stream's ready blocks on the device.
enum class StreamRank : std::uint8_t { usual, urgent };

/// A stream of the current device; it does not implicitly wait for other streams.
class GpuStream final : public Stream {
 public:
  explicit GpuStream(StreamRank rank = StreamRank::usual);
  ~GpuStream() override;
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;

  [[nodiscard]] cudaStream_t handle() const { return stream_; }

  void synchronize() override;
  void record(Event& event) override;
  void wait(Event& event) override;
  void upload(std::span<const std::byte> from, void* to) override;
  void download(const void* from, std::span<std::byte> to) override;
  void copy(const void* from, void* to, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  /// Captures a CUDA graph; calls `enqueue` once. Throws DeviceError with the reason if the work
  /// cannot be captured.
  std::unique_ptr<Recording> capture(std::function<void()> enqueue) override;
  void replay(Recording& recording) override;
  [[nodiscard]] void* native_handle() const override { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event of the current device.
std::unique_ptr<Event> make_gpu_event();

}  // namespace bench::cuda
