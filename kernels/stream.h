#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace bench {

/// How long to wait at most, and what ends the wait before.
struct Patience {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Asked now and then while waiting; true ends the wait. May be empty.
  std::function<bool()> cancelled = {};
};

/// A point in a stream's work. It may be recorded again and again.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  virtual ~Event() = default;
  /// Whether everything enqueued before the last recording is done; true before any. Does not wait.
  /// Throws DeviceError when the work failed.
  virtual bool done() = 0;
  /// Waits until done(); false when the patience ended first.
  virtual bool wait(const Patience& patience) = 0;
  /// From when the device came to an earlier event of the same backend to when it came to this one.
  /// Both have to be done.
  virtual std::chrono::nanoseconds since(const Event& earlier) const = 0;
};

/// Work that was enqueued once and runs again as a whole.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;
};

/// An ordered queue of work on a device. One host thread uses it at a time. But for synchronize(),
/// calls may return before the work is done: memory of the host and of the device that they name
/// has to stay until then, and memory of the host to stay as it is.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;
  /// Waits until everything enqueued so far is done. Throws DeviceError when it failed.
  virtual void synchronize() = 0;
  /// Sets an event of the same backend behind everything enqueued so far.
  virtual void record(Event& event) = 0;
  /// What is enqueued from now on begins after that event, as it was last recorded, on whatever
  /// stream of the backend.
  virtual void wait(Event& event) = 0;

  /// Copies between the host's memory and the device's, or within the device's.
  virtual void upload(std::span<const std::byte> from, void* to) = 0;
  virtual void download(const void* from, std::span<std::byte> to) = 0;
  virtual void copy(const void* from, void* to, std::size_t bytes) = 0;
  /// Sets every byte of the device's memory.
  virtual void fill(void* to, std::byte value, std::size_t bytes) = 0;

  /// What `enqueue` enqueues on this stream, to be replayed instead of done now. It may enqueue
  /// launches, copies and fills, wait for nothing, and is called once or with every replay: it has
  /// to enqueue the same each time. Memory of the host that it names has to be that of
  /// Backend::allocate_staging(), which is read and written at each replay.
  virtual std::unique_ptr<Recording> capture(std::function<void()> enqueue) = 0;
  /// Enqueues a recording of this stream once more.
  virtual void replay(Recording& recording) = 0;
  /// What the device's other libraries call this stream by, as a cudaStream_t; null where it has no
  /// such name.
  [[nodiscard]] virtual void* native_handle() const { return nullptr; }
};

/// Waits for a stream whose memory is about to go; what failed does not matter any more.
void finish(Stream& stream) noexcept;

}  // namespace bench
