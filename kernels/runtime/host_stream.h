#pragma once

#include <memory>

#include "kernels/stream.h"

namespace bench {

/// A stream whose work is done when the call returns, on the thread that calls: of devices that are
/// the host.
class HostStream : public Stream {
 public:
  void synchronize() override {}
  void record(Event& event) override;
  void wait(Event& /*event*/) override {}
  void upload(std::span<const std::byte> from, void* to) override;
  void download(const void* from, std::span<std::byte> to) override;
  void copy(const void* from, void* to, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  std::unique_ptr<Recording> capture(std::function<void()> enqueue) override;
  void replay(Recording& recording) override;
};

std::unique_ptr<Event> make_host_event();

}  // namespace bench
