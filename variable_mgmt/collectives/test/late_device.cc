#include "variable_mgmt/collectives/test/late_device.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "kernels/forwarding_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "variable_mgmt/collectives/test/late_queue.h"

namespace bench {
namespace {

class LateEvent final : public Event {
 public:
  bool done() override { return *reached_ >= recorded_; }
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
  [[nodiscard]] std::chrono::nanoseconds since(const Event& /*earlier*/) const override {
    throw InternalError("late device: events have no times");
  }

  /// mark() completes the event's next recording; gate() waits for the last one.
  std::function<bool()> mark() {
    return [reached = reached_, number = ++recorded_] {
      *reached = number;
      return true;
    };
  }
  [[nodiscard]] std::function<bool()> gate() const {
    return [reached = reached_, number = recorded_] { return *reached >= number; };
  }

 private:
  int recorded_ = 0;
  std::shared_ptr<std::atomic<int>> reached_ = std::make_shared<std::atomic<int>>(0);
};

class LateStream final : public Stream {
 public:
  LateStream() : worker_([this](const std::stop_token& stop) { work(stop); }) {}

  void synchronize() override {
    LateEvent event;
    record(event);
    event.wait({});
  }
  void record(Event& event) override { push(static_cast<LateEvent&>(event).mark()); }
  void wait(Event& event) override { push(static_cast<LateEvent&>(event).gate()); }
  void upload(std::span<const std::byte> from, void* to) override {
    copy(from.data(), to, from.size());
  }
  void download(const void* from, std::span<std::byte> to) override {
    copy(from, to.data(), to.size());
  }
  void copy(const void* from, void* to, std::size_t bytes) override {
    push([=] {
      std::memcpy(to, from, bytes);
      return true;
    });
  }
  void fill(void* to, std::byte value, std::size_t bytes) override {
    push([=] {
      std::memset(to, std::to_integer<int>(value), bytes);
      return true;
    });
  }
  std::unique_ptr<Recording> capture(std::function<void()> /*enqueue*/) override {
    throw InternalError("late device: nothing is recorded");
  }
  void replay(Recording& /*recording*/) override {}
  [[nodiscard]] void* native_handle() const override { return const_cast<LateQueue*>(&queue_); }

 private:
  void push(std::function<bool()> step) {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
    more_.notify_one();
  }
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (more_.wait(lock, stop, [this] { return !steps_.empty(); }) && !stop.stop_requested()) {
      const std::function<bool()> step = steps_.front();
      lock.unlock();
      const bool done = step();
      if (!done) {
        std::this_thread::yield();
      }
      lock.lock();
      if (done) {
        steps_.pop_front();
      }
    }
  }

  LateQueue queue_{.self = this, .push = [](void* self, std::function<bool()> attempt) {
                     static_cast<LateStream*>(self)->push(std::move(attempt));
                   }};
  std::mutex mutex_;
  std::condition_variable_any more_;
  std::deque<std::function<bool()>> steps_;
  std::jthread worker_;
};

class LateBackend final : public ForwardingBackend {
 public:
  explicit LateBackend(std::unique_ptr<Backend> inner)
      : ForwardingBackend(*inner), inner_(std::move(inner)) {}
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<LateStream>(); }
  std::unique_ptr<Stream> make_urgent_stream() override { return make_stream(); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<LateEvent>(); }

 private:
  std::unique_ptr<Backend> inner_;
};

}  // namespace

std::unique_ptr<Backend> make_late_backend() {
  return std::make_unique<LateBackend>(make_reference_backend());
}

}  // namespace bench
