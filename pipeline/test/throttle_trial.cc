// Slows down one part of the input or the device. Compares the predicted gain with the measured
// one. It takes real time, so it needs two idle processors; run it by hand.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/input_bound.h"
#include "pipeline/stages/batch_loader.h"
#include "pipeline/stages/cpu_clock.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::int64_t kBatch = 16;
constexpr int kBatches = 120;

/// The time for each image.
struct Costs {
  microseconds storage{10};  ///< waiting
  microseconds read{20};     ///< on a processor, like the next three
  microseconds parse{30};
  microseconds decode{100};
  microseconds resize{50};
  microseconds copy{100};
  microseconds device{600};
};

void work(microseconds time) {
  const nanoseconds end = thread_cpu_time() + time;
  while (thread_cpu_time() < end) {
  }
}

class SlowStream final : public RecordStream {
 public:
  explicit SlowStream(const Costs& costs) : costs_(costs) {}
  std::optional<Record> next() override {
    std::this_thread::sleep_until(Clock::now() + costs_.storage);
    work(costs_.read);
    return Record{.bytes = std::make_shared<char[]>(1), .size = 1, .file = nullptr};
  }

 private:
  Costs costs_;
};

class SlowWorker final : public SampleWorker {
 public:
  explicit SlowWorker(const Costs& costs) : costs_(costs) {}
  SampleCost prepare(const Sample& /*sample*/, const SamplePlace& place) override {
    CpuLap lap;
    SampleCost cost;
    work(costs_.parse);
    cost.parse = lap.lap();
    work(costs_.decode);
    cost.decode = lap.lap();
    work(costs_.resize);
    cost.resize = lap.lap();
    *place.label = 0;
    return cost;
  }

 private:
  Costs costs_;
};

/// Runs a device that computes for a time per image, while the next images are copied to it.
InputInterval run(const Costs& costs) {
  BatchLoader loader(
      {.batch = kBatch, .image_elements = 1, .num_threads = 1, .num_slots = 3},
      [costs](ReaderPool*) {
        return std::make_unique<SampleOrder>(std::make_unique<SlowStream>(costs), 1, 0);
      },
      [costs] { return std::make_unique<SlowWorker>(costs); }, make_host_allocator());
  for (int i = 0; i < 10; ++i) {
    loader.next();
  }
  const InputStatistics before = loader.statistics();
  const auto begin = Clock::now();
  for (int i = 0; i < kBatches; ++i) {
    loader.next();
    std::this_thread::sleep_for(kBatch * std::max(costs.device, costs.copy));
  }
  const InputStatistics done = loader.statistics().since(before);
  return {.done = done,
          .images = kBatches * kBatch,
          .wall = Clock::now() - begin,
          .waited = done.consumer_wait,
          // A device would measure these two.
          .computed = kBatches * kBatch * costs.device,
          .copied = kBatches * kBatch * costs.copy,
          .copied_bytes = 1,
          .processors = 16};
}

struct Trial {
  const char* throttled;
  InputBound expected;
  /// The part that takes longer; null: none.
  microseconds Costs::*part;
};

int trials() {
  constexpr microseconds kSlow{2000};
  const std::vector<Trial> all = {
      {"nothing", InputBound::device, nullptr},
      {"device", InputBound::device, &Costs::device},
      {"storage", InputBound::storage, &Costs::storage},
      {"read", InputBound::reading, &Costs::read},
      {"parse", InputBound::parse, &Costs::parse},
      {"decode", InputBound::decode, &Costs::decode},
      {"resize", InputBound::resize, &Costs::resize},
      {"copy", InputBound::copy, &Costs::copy},
  };
  const double unthrottled = judge_input(run({})).images_per_second;
  std::printf("%-10s%-10s%12s%12s%12s%8s\n", "throttled", "verdict", "images/sec", "predicted",
              "measured", "error");
  int failures = 0;
  for (const Trial& trial : all) {
    Costs costs;
    if (trial.part != nullptr) {
      costs.*trial.part = kSlow;
    }
    const InputVerdict verdict = judge_input(run(costs));
    // Without the limit; nothing can be gained from the input if the device is the limit.
    const double measured =
        trial.expected == InputBound::device ? verdict.images_per_second : unthrottled;
    const double error = verdict.device_images_per_second / measured - 1;
    const bool right = verdict.bound == trial.expected && std::abs(error) < 0.1;
    failures += right ? 0 : 1;
    std::printf("%-10s%-10s%12.0f%12.0f%12.0f%7.1f%%%s\n", trial.throttled,
                std::string(name_of(verdict.bound)).c_str(), verdict.images_per_second,
                verdict.device_images_per_second, measured, 100 * error, right ? "" : "  WRONG");
  }
  return failures;
}

}  // namespace
}  // namespace bench

int main() { return bench::trials() == 0 ? 0 : 1; }
