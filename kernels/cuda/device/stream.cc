#include "kernels/cuda/device/stream.h"

#include <thread>

namespace bench::cuda {
namespace {

class GpuEvent final : public Event {
 public:
  GpuEvent() { check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDefault), "cudaEventCreate"); }
  ~GpuEvent() override { static_cast<void>(cudaEventDestroy(event_)); }
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;

  [[nodiscard]] cudaEvent_t handle() const { return event_; }

  bool done() override {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) {
      // An answer, not an error: the next launch must not report it.
      static_cast<void>(cudaGetLastError());
      return false;
    }
    check_cuda(status, "cudaEventQuery");
    return true;
  }

  bool wait(const Patience& patience) override {
    while (!done()) {
      if (std::chrono::steady_clock::now() >= patience.deadline ||
          (patience.cancelled && patience.cancelled())) {
        return false;
      }
      std::this_thread::yield();
    }
    return true;
  }

  [[nodiscard]] std::chrono::nanoseconds since(const Event& earlier) const override {
    float milliseconds = 0;
    check_cuda(
        cudaEventElapsedTime(&milliseconds, static_cast<const GpuEvent&>(earlier).event_, event_),
        "cudaEventElapsedTime");
    constexpr double kNanosecondsPerMillisecond = 1e6;
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(milliseconds * kNanosecondsPerMillisecond));
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class GpuRecording final : public Recording {
 public:
  explicit GpuRecording(cudaGraph_t graph) {
    // Kernels keep the priorities of the streams that they were recorded on.
    const cudaError_t status =
        cudaGraphInstantiate(&executable_, graph, cudaGraphInstantiateFlagUseNodePriority);
    static_cast<void>(cudaGraphDestroy(graph));
    check_cuda(status, "cudaGraphInstantiate");
  }
  ~GpuRecording() override { static_cast<void>(cudaGraphExecDestroy(executable_)); }
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;

  void launch(cudaStream_t stream) const {
    check_cuda(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch");
  }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

GpuStream::GpuStream(StreamRank rank) {
  // Smaller numbers go first. If a device has no stream priorities, both are 0.
  int last = 0;
  int first = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&last, &first), "cudaDeviceGetStreamPriorityRange");
  check_cuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                          rank == StreamRank::urgent ? first : last),
             "cudaStreamCreate");
}

GpuStream::~GpuStream() { static_cast<void>(cudaStreamDestroy(stream_)); }

void GpuStream::synchronize() {
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void GpuStream::record(Event& event) {
  check_cuda(cudaEventRecord(static_cast<GpuEvent&>(event).handle(), stream_), "cudaEventRecord");
}

void GpuStream::wait(Event& event) {
  check_cuda(cudaStreamWaitEvent(stream_, static_cast<GpuEvent&>(event).handle(), 0),
             "cudaStreamWaitEvent");
}

// CUDA refuses empty copies from null.

void GpuStream::upload(std::span<const std::byte> from, void* to) {
  if (!from.empty()) {
    check_cuda(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_),
               "cudaMemcpyAsync to the device");
  }
}

void GpuStream::download(const void* from, std::span<std::byte> to) {
  if (!to.empty()) {
    check_cuda(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream_),
               "cudaMemcpyAsync to the host");
  }
}

void GpuStream::copy(const void* from, void* to, std::size_t bytes) {
  if (bytes > 0) {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_),
               "cudaMemcpyAsync on the device");
  }
}

void GpuStream::fill(void* to, std::byte value, std::size_t bytes) {
  if (bytes > 0) {
    check_cuda(cudaMemsetAsync(to, std::to_integer<int>(value), bytes, stream_), "cudaMemsetAsync");
  }
}

std::unique_ptr<Recording> GpuStream::capture(std::function<void()> enqueue) {
  check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  cudaGraph_t graph = nullptr;
  try {
    enqueue();
  } catch (...) {
    // The stream must be usable again, whatever the result.
    if (cudaStreamEndCapture(stream_, &graph) == cudaSuccess) {
      static_cast<void>(cudaGraphDestroy(graph));
    }
    static_cast<void>(cudaGetLastError());
    throw;
  }
  check_cuda(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
  return std::make_unique<GpuRecording>(graph);
}

void GpuStream::replay(Recording& recording) {
  static_cast<GpuRecording&>(recording).launch(stream_);
}

std::unique_ptr<Event> make_gpu_event() { return std::make_unique<GpuEvent>(); }

}  // namespace bench::cuda
