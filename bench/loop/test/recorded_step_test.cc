// A training step that is recorded once and replayed has the results of an eager step. Learning
// rate, loss scale and dropout change from step to step, so a launch must not contain fixed values
// of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "bench/loop/repeated_step.h"
#include "bench/loop/session.h"
#include "bench/loop/test/lone_tower.h"
#include "bench/loop/test/residual.h"
#include "bench/plan/input.h"
#include "bench/plan/network.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"

namespace bench {
namespace {

constexpr int kSteps = 20;

struct Course {
  std::vector<double> losses;
  std::vector<double> loss_scales;
  InitialValues variables;
  bool operator==(const Course&) const = default;
};

enum class Steps : std::uint8_t { eager, replayed };

/// A run whose loss scale doubles every third step.
class TrainingRun {
 public:
  TrainingRun(RunSettings settings, Backend& backend)
      : settings_(std::move(settings)),
        lone_(settings_, build_run_graph(settings_, backend, settings_.workload.batch), backend, {},
              initial_values(build_run_network(settings_.workload, settings_.workload.batch), 1)),
        tower_(lone_.tower()),
        input_(make_run_input(settings_, tower_.executor().input_layout("images"))) {
    tower_.set_loss_scale(loss_scale_rule(settings_.workload).initial);
  }

  Tower& tower() { return tower_; }
  UpdateStrategy& update() { return lone_.update(); }
  /// Provides the inputs of a step.
  void provide(int step) {
    const InputBatch batch = input_->next();
    tower_.feed(batch.images, batch.labels);
    tower_.set_parameters({.learning_rate = 1e-5 * (step + 1), .number = step});
  }

  Course train(Steps steps) {
    const auto step = [&] {
      tower_.upload_parameters();
      tower_.enqueue_run();
      lone_.update().update();
    };
    std::unique_ptr<Recording> recording;
    Course course;
    for (int i = 0; i < kSteps; ++i) {
      provide(i);
      if (steps == Steps::eager) {
        step();
      } else {
        recording = recording == nullptr ? tower_.stream().capture(step) : std::move(recording);
        tower_.stream().replay(*recording);
      }
      tower_.wait();
      course.losses.push_back(tower_.executor().read_scalar("loss"));
      course.loss_scales.push_back(tower_.seen_state().loss_scale);
    }
    const Graph& graph = tower_.executor().graph();
    for (const Variable& variable : graph.variables()) {
      const std::string& name = graph.value(variable.value).name;
      course.variables[name] = tower_.executor().read_variable(name);
    }
    return course;
  }

 private:
  RunSettings settings_;
  LoneTower lone_;
  Tower& tower_;
  std::unique_ptr<InputSource> input_;
};

RunSettings changing_settings() {
  RunSettings settings = residual(DType::f16);
  settings.workload.optimizer.rule = AdamRule{};
  settings.workload.loss_scale.initial = 4;
  settings.workload.loss_scale.automatic = true;
  settings.workload.loss_scale.increase_every = 2;
  return settings;
}

TEST(RecordedStep, HasTheBitsOfEagerStepsOnAFarDevice) {
  const auto reference = make_reference_backend();
  const Course eager = TrainingRun(changing_settings(), *reference).train(Steps::eager);
  EXPECT_GT(eager.loss_scales.back(), 16 * eager.loss_scales.front());
  EXPECT_EQ(TrainingRun(changing_settings(), *reference).train(Steps::replayed), eager);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto far = make_far_backend(make_reference_backend(),
                                      {.kind = FarSchedule::Kind::random, .seed = seed});
    EXPECT_EQ(TrainingRun(changing_settings(), *far).train(Steps::replayed), eager)
        << "seed " << seed;
  }
}

TEST(RecordedStep, HasTheBitsOfEagerStepsOnOnednn) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  const Course eager = TrainingRun(residual(), *backend).train(Steps::eager);
  EXPECT_NE(eager.losses.front(), eager.losses.back());
  EXPECT_EQ(TrainingRun(residual(), *backend).train(Steps::replayed), eager);
}

TEST(RecordedStep, EndsForTheDevicesClockBeforeTheNextBatchIsBrought) {
  const auto far = make_far_backend(make_reference_backend(), {.kind = FarSchedule::Kind::eager});
  TrainingRun run(changing_settings(), *far);
  RepeatedStep step(StepRecording::on, run.tower(), &run.update());
  for (int i = 0; i < 4; ++i) {
    using Clock = std::chrono::steady_clock;
    run.provide(i);
    const Clock::time_point begun = Clock::now();
    Clock::duration until_brought{};
    step.enqueue([&] {
      const Clock::time_point brought = Clock::now();
      until_brought = brought - begun;
      // Wait long enough that, if the step ended after this call, it would exceed `until_brought`.
      while (Clock::now() - brought <= until_brought) {
      }
    });
    run.tower().wait();
    EXPECT_EQ(step.replayed(), i > 0);
    if (step.replayed()) {
      EXPECT_LE(step.device_time().value(), until_brought);
    }
  }
}

/// A strategy that cannot be recorded: its second update fails.
class Unrecordable final : public UpdateStrategy {
 public:
  Unrecordable(UpdateStrategy& inner, std::string reduced_on)
      : inner_(inner), reduced_on_(std::move(reduced_on)) {}

  void update() override {
    if (++updates_ == 2) {
      throw DeviceError("the second update failed");
    }
    inner_.update();
  }
  [[nodiscard]] std::string_view reduced_on() const override { return reduced_on_; }
  void reset() override { inner_.reset(); }
  [[nodiscard]] std::vector<StateRegion> state_regions() override { return inner_.state_regions(); }

 private:
  UpdateStrategy& inner_;
  std::string reduced_on_;
  int updates_ = 0;
};

/// The remark of a step, or its error, if it cannot be recorded.
std::string remark_or_error(StepRecording recording, const std::string& reduced_on) {
  const auto far = make_far_backend(make_reference_backend(), {.kind = FarSchedule::Kind::eager});
  TrainingRun run(changing_settings(), *far);
  Unrecordable strategy(run.update(), reduced_on);
  RepeatedStep step(recording, run.tower(), &strategy);
  try {
    for (int i = 0; i < 2; ++i) {
      run.provide(i);
      step.enqueue([] {});
      run.tower().wait();
    }
  } catch (const DeviceError& error) {
    return error.what();
  }
  return step.remark();
}

TEST(RecordedStep, ThatFailsIsAnErrorIfItIsRequiredOrHasNccl) {
  EXPECT_EQ(remark_or_error(StepRecording::automatic, "host"),
            "steps are not replayed from a recording: the second update failed");
  EXPECT_EQ(remark_or_error(StepRecording::on, "host"),
            "--cuda_graph=on: a step cannot be recorded: the second update failed");
  EXPECT_EQ(remark_or_error(StepRecording::automatic, "nccl"),
            "a step with NCCL cannot be recorded: the second update failed; use --cuda_graph=off");
}

TEST(RecordedStep, IsWaitedForOnceLikeAnEagerStep) {
  for (const Steps steps : {Steps::eager, Steps::replayed}) {
    const auto far = make_far_backend(make_reference_backend(), {});
    TrainingRun run(changing_settings(), *far);
    const std::int64_t before = waits_for(*far);
    const Course course = run.train(steps);
    // A read of a variable at the end waits once too.
    EXPECT_EQ(waits_for(*far) - before,
              kSteps + static_cast<std::int64_t>(course.variables.size()));
  }
}

}  // namespace
}  // namespace bench
