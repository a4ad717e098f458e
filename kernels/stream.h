#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace bench {

/// The maximum time to wait, and a condition that ends the wait early.
struct Patience {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Polled while waiting; true ends the wait. May be empty.
  std::function<bool()> cancelled = {};
};

/// A point in a stream's work. It may be recorded repeatedly.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  virtual ~Event() = default;
  /// Returns true if everything enqueued before the last recording is done; true before any
  /// recording. Does not wait. Throws DeviceError if the work failed.
  virtual bool done() = 0;
  /// Waits until done(); returns false if the patience ended first.
  virtual bool wait(const Patience& patience) = 0;
  /// The time from an earlier event of the same backend to this one, on the device. Both must be
  /// done.
  virtual std::chrono::nanoseconds since(const Event& earlier) const = 0;
};

/// Work that was enqueued once and can be replayed as a whole.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;
};

/// An ordered queue of work on a device. One host thread uses it at a time. Calls other than
/// synchronize() may return before the work is done. The memory that they use must exist until
/// then, and memory of the host must stay unchanged.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;
  /// Waits until everything enqueued so far is done. Throws DeviceError if it failed.
  virtual void synchronize() = 0;
  /// Records an event of the same backend after everything enqueued so far.
  virtual void record(Event& event) = 0;
  /// Later work on this stream begins after the last recording of that event, on any stream of the
  /// backend.
  virtual void wait(Event& event) = 0;

  /// Copies between the host's memory and the device's, or within the device's.
  virtual void upload(std::span<const std::byte> from, void* to) = 0;
  virtual void download(const void* from, std::span<std::byte> to) = 0;
  virtual void copy(const void* from, void* to, std::size_t bytes) = 0;
  /// Sets every byte of the device's memory.
  virtual void fill(void* to, std::byte value, std::size_t bytes) = 0;

  /// Records the work that `enqueue` adds to this stream, for replay, instead of running it now. It
  /// may enqueue launches, copies and fills, and must not wait. It is called once or at every
  /// replay, and must enqueue the same each time. Its memory of the host must be from
  /// Backend::allocate_staging(); it is read and written at each replay.
  virtual std::unique_ptr<Recording> capture(std::function<void()> enqueue) = 0;
  /// Enqueues a recording of this stream once more.
  virtual void replay(Recording& recording) = 0;
  /// The device libraries' handle of this stream, as a cudaStream_t; null on other devices.
  [[nodiscard]] virtual void* native_handle() const { return nullptr; }
};

/// Waits for a stream whose memory will be freed; ignores failures.
void finish(Stream& stream) noexcept;

}  // namespace bench
