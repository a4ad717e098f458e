#pragma once

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/loop/run_towers.h"
#include "bench/loop/test/failing_backend.h"
#include "bench/loop/test/several_towers.h"
#include "bench/loop/test/tiny_run.h"

namespace bench {

/// Provides batches for all towers. The images of each tower contain its number, counted from
/// `first`; the labels are 0.
class NumberedInput final : public InputSource {
 public:
  NumberedInput(FakeClock& clock, const Workload& workload, int first, std::int64_t fails_at)
      : clock_(clock),
        labels_(static_cast<std::size_t>(workload.global_batch())),
        fails_at_(fails_at) {
    for (int tower = 0; tower < workload.towers; ++tower) {
      images_.insert(images_.end(),
                     static_cast<std::size_t>(workload.batch * 3 * kImageSize * kImageSize),
                     static_cast<float>(first + tower));
    }
  }
  InputBatch next() override {
    clock_.advance(milliseconds(100));
    if (calls_++ == fails_at_) {
      throw DataError("the shard ended");
    }
    return {.images = images_.data(), .labels = labels_.data()};
  }
  bool ready_within(std::chrono::nanoseconds /*time*/) override { return calls_ != stalls_at; }
  [[nodiscard]] InputStatistics statistics() const override { return {}; }

  /// Stalls forever.
  std::int64_t stalls_at = -1;

 private:
  FakeClock& clock_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::int64_t calls_ = 0;
  std::int64_t fails_at_;
};

/// The number of steps before a kernel or an update fails.
inline constexpr int kGoodSteps = 2;

struct TowersRun {
  RunSettings settings = TinyRun().settings;
  Fault fault = Fault::none;
  int faulty_tower = 0;
  int first_image = 0;
  std::int64_t input_fails_at = -1;
  std::int64_t input_stalls_at = -1;
  std::function<bool(std::int64_t steps)> interrupted = [](std::int64_t) { return false; };
  /// The system's clock times the steps; else a clock that only the input advances.
  bool timed = false;
  std::function<std::unique_ptr<Backend>()> make_backend = make_reference_backend;

  SessionResult result = {};
  std::vector<std::vector<float>> weights = {};
  std::string out = {};

  void run() {
    SeveralTowers several(
        settings,
        [&](int tower) {
          return std::make_unique<FailingBackend>(
              make_backend(), tower == faulty_tower ? fault : Fault::none, kGoodSteps, "conv");
        },
        initial_values(build_run_network(settings.workload, 1), 1));
    Towers& towers = *several;
    FakeClock moved;
    const SteadyClock steady;
    const Clock& clock = timed ? static_cast<const Clock&>(steady) : moved;
    NumberedInput input(moved, settings.workload, first_image, input_fails_at);
    input.stalls_at = input_stalls_at;
    StoppingRule stopping(step_limits(settings.execution), clock, [&] {
      return interrupted(static_cast<std::int64_t>(result.steps.size()));
    });
    std::ostringstream printed;
    std::ostringstream progress;
    const SessionParts parts{.towers = towers,
                             .input = input,
                             .clock = clock,
                             .stopping = stopping,
                             .out = printed,
                             .progress = progress};
    try {
      run_session(settings, parts, result);
    } catch (...) {
      out = printed.str();
      throw;
    }
    out = printed.str();
    for (int tower = 0; tower < settings.workload.towers; ++tower) {
      weights.emplace_back();
      towers.run([&](int number) {
        if (number == tower) {
          weights.back() = towers[number].executor().read_variable("conv.weight");
        }
      });
    }
  }
};

inline TowersRun run_of(std::string_view strategy, int towers) {
  TowersRun run;
  run.settings.workload.towers = towers;
  run.settings.workload.image_size = kImageSize;
  run.settings.workload.strategy = &find_strategy(strategy);
  run.settings.workload.reduction = run.settings.workload.strategy->reduction;
  run.settings.workload.learning_rate.request.init_learning_rate = 0.1;
  run.settings.execution.steps.num_batches = 4;
  return run;
}

}  // namespace bench
