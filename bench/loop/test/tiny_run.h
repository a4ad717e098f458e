#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "bench/loop/session.h"
#include "bench/loop/test/lone_tower.h"
#include "bench/plan/network.h"
#include "kernels/reference/reference_backend.h"
#include "models/zoo/builder.h"
#include "results/environment/test/fake_clock.h"

namespace bench {

using std::chrono::milliseconds;

inline constexpr std::int64_t kImageSize = 4;

inline ValueId build_tiny(NetworkBuilder& net, ValueId images) {
  const ValueId x = net.conv("conv", images, {.channels = 2, .window = {.kernel = 1}});
  return net.head(net.spatial_mean("mean", x));
}

inline constexpr Model kTiny{.name = "tiny",
                             .printed_name = "tiny",
                             .dataset = "imagenet",
                             .image_size = kImageSize,
                             .default_batch = 2,
                             .rate = ModelRate::constant,
                             .build = build_tiny};

/// Always provides the same batch; each call takes the next time in the list.
class FakeInput final : public InputSource {
 public:
  FakeInput(FakeClock& clock, const Workload& workload, std::vector<milliseconds> waits)
      : clock_(clock),
        waits_(std::move(waits)),
        images_(static_cast<std::size_t>(workload.batch * 3 * kImageSize * kImageSize), 1),
        labels_(static_cast<std::size_t>(workload.batch)) {}

  InputBatch next() override {
    clock_.advance(waits_.at(calls_ % waits_.size()));
    if (spoil_from && calls_ >= *spoil_from) {
      images_[0] = std::numeric_limits<float>::quiet_NaN();
    }
    ++calls_;
    return {.images = images_.data(), .labels = labels_.data()};
  }
  [[nodiscard]] InputStatistics statistics() const override { return {}; }
  [[nodiscard]] std::size_t calls() const { return calls_; }
  [[nodiscard]] std::vector<std::int32_t>& labels() { return labels_; }

  /// From this call on (counted from 0) an image contains a NaN.
  std::optional<std::size_t> spoil_from = {};

 private:
  FakeClock& clock_;
  std::vector<milliseconds> waits_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::size_t calls_ = 0;
};

/// A run of the tiny network on the reference backend. Initial weights are zero, except those of
/// the last layer, which are all equal. All classes are therefore equally likely, and the loss is
/// the logarithm of their number.
struct TinyRun {
  RunSettings settings = {};
  std::vector<milliseconds> waits = {milliseconds(100)};
  std::vector<float> last_biases = {};
  std::vector<std::int32_t> labels = {};
  std::optional<std::size_t> spoil_from = {};
  std::function<bool(std::size_t steps)> interrupted = [](std::size_t) { return false; };
  /// The time that passes between two steps.
  milliseconds between{};
  TimedWatch* watch = nullptr;
  /// Called after each step; `pause` is the time that passes in it.
  std::function<bool(const CompletedStep& step)> after_step = {};
  milliseconds pause{};
  std::int64_t steps_before = 0;
  std::optional<std::int64_t> training_warmup = {};
  /// The state that the tower has before the first step.
  std::optional<StepState> restored = {};

  std::ostringstream out = {};
  std::ostringstream progress = {};
  SessionResult result = {};
  std::size_t calls = 0;

  TinyRun() {
    settings.workload.model = &kTiny;
    settings.workload.dataset = &dataset_named("imagenet");
    settings.execution.device = RunDevice::reference;
    settings.workload.batch = 2;
    settings.workload.num_classes = 4;
    settings.execution.warmup.num_batches = 0;
    settings.execution.steps = {.num_batches = 3, .num_epochs = 0};
    settings.workload.optimizer.weight_decay = 0.25;
    settings.workload.learning_rate.request.init_learning_rate = 0;
  }

  void run() {
    const auto backend = make_reference_backend();
    const Graph graph = build_run_graph(settings, *backend, images_at_once(settings));
    InitialValues values = initial_values(graph, 1);
    for (auto& [name, elements] : values) {
      const float value = name == "fc.weight" ? 0.5F : 0.0F;
      elements.assign(elements.size(), value);
    }
    if (!last_biases.empty()) {
      values.at("fc.bias") = last_biases;
    }
    LoneTower lone(settings, graph, *backend, {.format = DataFormat::automatic, .poison = true},
                   values);
    FakeClock clock;
    FakeInput input(clock, settings.workload, waits);
    input.spoil_from = spoil_from;
    if (!labels.empty()) {
      input.labels() = labels;
    }
    const auto ask = [&] {
      clock.advance(between);
      return interrupted(input.calls());
    };
    StoppingRule stopping(step_limits(settings.execution), clock, ask);
    SessionParts parts{.towers = lone.towers(),
                       .input = input,
                       .clock = clock,
                       .stopping = stopping,
                       .out = out,
                       .progress = progress,
                       .watch = watch};
    parts.steps_before = steps_before;
    parts.training_warmup = training_warmup;
    if (restored) {
      parts.restore = [&](int tower) { lone.towers()[tower].restore_state(*restored); };
    }
    if (after_step) {
      parts.after_step = [&](const CompletedStep& step) {
        clock.advance(pause);
        return after_step(step);
      };
    }
    try {
      run_session(settings, parts, result);
    } catch (...) {
      calls = input.calls();
      throw;
    }
    calls = input.calls();
  }
};

}  // namespace bench
