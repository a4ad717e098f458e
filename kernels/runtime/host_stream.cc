#include "kernels/runtime/host_stream.h"

#include <cstring>

namespace bench {
namespace {

class HostEvent final : public Event {
 public:
  bool done() override { return true; }
  bool wait(const Patience& /*patience*/) override { return true; }
  [[nodiscard]] std::chrono::nanoseconds since(const Event& earlier) const override {
    return time_ - static_cast<const HostEvent&>(earlier).time_;
  }
  void reach() { time_ = std::chrono::steady_clock::now().time_since_epoch(); }

 private:
  std::chrono::nanoseconds time_{};
};

class HostRecording final : public Recording {
 public:
  explicit HostRecording(std::function<void()> enqueue) : enqueue_(std::move(enqueue)) {}
  void run() const { enqueue_(); }

 private:
  std::function<void()> enqueue_;
};

}  // namespace

void HostStream::record(Event& event) { static_cast<HostEvent&>(event).reach(); }

void HostStream::upload(std::span<const std::byte> from, void* to) {
  copy(from.data(), to, from.size());
}

void HostStream::download(const void* from, std::span<std::byte> to) {
  copy(from, to.data(), to.size());
}

// The checks for 0 bytes are necessary: memcpy and memset do not accept null.

void HostStream::copy(const void* from, void* to, std::size_t bytes) {
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

void HostStream::fill(void* to, std::byte value, std::size_t bytes) {
  if (bytes > 0) {
    std::memset(to, std::to_integer<int>(value), bytes);
  }
}

std::unique_ptr<Recording> HostStream::capture(std::function<void()> enqueue) {
  return std::make_unique<HostRecording>(std::move(enqueue));
}

void HostStream::replay(Recording& recording) { static_cast<HostRecording&>(recording).run(); }

std::unique_ptr<Event> make_host_event() { return std::make_unique<HostEvent>(); }

}  // namespace bench
