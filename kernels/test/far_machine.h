#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "kernels/test/far_device.h"
#include "kernels/test/far_parts.h"
#include "models/base/errors.h"

namespace bench {

class FarMachine;

/// A point in a stream's work, given by the number of its last recording.
class FarEvent final : public Event {
 public:
  explicit FarEvent(FarMachine& machine) : machine_(machine) {}
  bool done() override;
  bool wait(const Patience& patience) override;
  [[nodiscard]] std::chrono::nanoseconds since(const Event& earlier) const override {
    return time_ - static_cast<const FarEvent&>(earlier).time_;
  }

  std::int64_t record() { return ++recorded_; }
  void reach(std::int64_t number) {
    reached_ = std::max(reached_, number);
    time_ = std::chrono::steady_clock::now().time_since_epoch();
  }
  [[nodiscard]] std::int64_t recorded() const { return recorded_; }
  [[nodiscard]] bool reached(std::int64_t number) const { return reached_ >= number; }

 private:
  FarMachine& machine_;
  std::int64_t recorded_ = 0;
  std::int64_t reached_ = 0;
  std::chrono::nanoseconds time_{};
};

/// The next operation of a stream; it first waits for an event's number, if it has one.
struct FarOperation {
  std::function<void()> run;
  FarEvent* behind = nullptr;
  std::int64_t number = 0;

  [[nodiscard]] bool ready() const { return behind == nullptr || behind->reached(number); }
};

using FarQueue = std::deque<FarOperation>;

/// State that all streams of a far device share: the schedule and the working thread.
class FarMachine {
 public:
  FarMachine(Backend& inner, const FarSchedule& schedule)
      : stream_(inner.make_stream()), schedule_(schedule), random_(schedule.seed) {}

  AddressBook& addresses() { return addresses_; }
  [[nodiscard]] std::size_t free_bytes() const { return schedule_.memory_bytes - taken_; }
  /// Throws DeviceError if there is not enough memory.
  void take_memory(std::size_t bytes) {
    if (bytes > free_bytes()) {
      throw DeviceError(
          fmt::format("far device: {} bytes were requested, but {} are free", bytes, free_bytes()));
    }
    taken_ += bytes;
  }
  void give_memory(std::size_t bytes) { taken_ -= bytes; }
  Stream& inner_stream() { return *stream_; }
  void add(FarQueue& queue) { queues_.push_back(&queue); }
  void remove(FarQueue& queue) { std::erase(queues_, &queue); }

  /// Runs the enqueued work that the schedule runs immediately.
  void after_enqueue() {
    const std::uint64_t most = schedule_.kind == FarSchedule::Kind::eager    ? ~std::uint64_t{0}
                               : schedule_.kind == FarSchedule::Kind::random ? random_() % 3
                                                                             : 0;
    if (most > 0) {
      worker_.run([&] {
        for (std::uint64_t i = 0; i < most && run_one(); ++i) {
        }
      });
    }
  }
  /// Works until `reached`; returns false if the patience ended first.
  bool run_until(const std::function<bool()>& reached, const Patience& patience) {
    bool patient = true;
    ++waits_;
    worker_.run([&] {
      while (patient && !reached()) {
        patient = !(patience.cancelled && patience.cancelled()) &&
                  std::chrono::steady_clock::now() <= patience.deadline;
        check(!patient || run_one(), "far device: the streams wait for each other");
      }
    });
    return patient;
  }
  [[nodiscard]] std::int64_t waits() const { return waits_; }
  [[nodiscard]] std::chrono::nanoseconds upload_delay() const { return schedule_.upload_delay; }
  void count_upload(std::size_t bytes) { uploaded_ += bytes; }
  [[nodiscard]] std::size_t uploaded() const { return uploaded_; }
  /// Runs one operation of the device.
  void run_a_bit() {
    worker_.run([&] { run_one(); });
  }

 private:
  /// Runs the next operation of a stream that can continue; returns false if none can.
  bool run_one() {
    std::vector<FarQueue*> able;
    std::copy_if(queues_.begin(), queues_.end(), std::back_inserter(able),
                 [](const FarQueue* queue) { return !queue->empty() && queue->front().ready(); });
    if (able.empty()) {
      return false;
    }
    FarQueue& queue =
        *able[schedule_.kind == FarSchedule::Kind::random ? random_() % able.size() : 0];
    const FarOperation operation = std::move(queue.front());
    queue.pop_front();
    operation.run();
    return true;
  }

  std::unique_ptr<Stream> stream_;
  FarSchedule schedule_;
  std::mt19937_64 random_;
  AddressBook addresses_;
  std::size_t taken_ = 0;
  std::vector<FarQueue*> queues_;
  std::int64_t waits_ = 0;
  std::size_t uploaded_ = 0;
  Worker worker_;
};

inline bool FarEvent::done() {
  if (!reached(recorded_)) {
    machine_.run_a_bit();  // Polling lets the device continue.
  }
  return reached(recorded_);
}

inline bool FarEvent::wait(const Patience& patience) {
  return machine_.run_until([this] { return reached(recorded_); }, patience);
}

}  // namespace bench
