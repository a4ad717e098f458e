#include "bench/loop/session.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/loop/repeated_step.h"
#include "bench/loop/step_statistics.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t kReservedSteps = 1 << 20;

class Session {
 public:
  Session(const RunSettings& settings, const SessionParts& parts, SessionResult& result)
      : settings_(settings),
        parts_(parts),
        result_(result),
        learning_rate_(settings.learning_rate),
        step_(settings.gpu.recording, parts.tower, parts.strategy),
        progress_(parts.progress, parts.clock, {.terminal = parts.progress_terminal}) {
    find_scalars();
    parts_.tower.set_loss_scale(loss_scale_rule(settings).initial);
    // Longer lists grow between steps, outside what is timed.
    const auto expected =
        static_cast<std::size_t>(std::min(parts.stopping.limits().steps, kReservedSteps));
    result_.steps.reserve(expected);
    result_.losses.reserve(settings.training() ? expected : 0);
  }

  void run() {
    parts_.stopping.begin();
    result_.first_step_at = parts_.clock.now();
    report::print_running_warm_up(parts_.out);
    if (warm_up() == Stop::interrupted) {
      result_.stop = Stop::interrupted;
      return;
    }
    progress_.clear();
    if (!step_.why_not_recorded().empty()) {
      parts_.progress << "note: steps are not replayed from a recording: "
                      << step_.why_not_recorded() << "\n";
    }
    report::print_done_warm_up(parts_.out);
    measure();
    progress_.clear();
    check_logits();
    if (result_.stop != Stop::interrupted) {
      report::print_total(parts_.out, images_per_second());
    }
  }

 private:
  struct Outcome {
    nanoseconds duration;
    double loss = 0;
    report::Accuracies accuracies;
  };

  void find_scalars() {
    const Executor& executor = parts_.tower.executor();
    if (settings_.training()) {
      losses_.push_back(executor.scalar("loss"));
      if (settings_.lines.loss == ReportedLoss::total) {
        losses_.push_back(executor.scalar("l2_loss"));
      }
    }
    if (settings_.accuracies()) {
      top_1_ = executor.scalar("top_1");
      top_5_ = executor.scalar("top_5");
    }
  }

  Stop warm_up() {
    progress_.start("warm up", parts_.stopping.limits().warmup_steps);
    Stop stop = parts_.stopping.after_warmup_steps(0);
    while (stop == Stop::none) {
      step();
      progress_.update(++result_.warmup_steps);
      stop = parts_.stopping.after_warmup_steps(result_.warmup_steps);
    }
    return stop;
  }

  void measure() {
    report::print_step_titles(
        parts_.out, settings_.lines.loss == ReportedLoss::total ? "total_loss" : "base_loss",
        settings_.accuracies());
    progress_.start("measuring", parts_.stopping.limits().steps);
    result_.input_wait = {};
    parts_.stopping.begin_measuring();
    if (parts_.watch != nullptr) {
      parts_.watch->begin();
    }
    const nanoseconds begin = parts_.clock.now();
    double top_1 = 0;
    double top_5 = 0;
    for (std::int64_t i = 1; result_.stop == Stop::none; ++i) {
      const Outcome outcome = step();
      result_.wall = parts_.clock.now() - begin;
      result_.steps.push_back(outcome.duration);
      if (settings_.training()) {
        result_.loss_first = result_.loss_first.value_or(outcome.loss);
        result_.loss_last = outcome.loss;
        result_.losses.push_back(outcome.loss);
      }
      if (settings_.accuracies()) {
        top_1 += outcome.accuracies.top_1;
        top_5 += outcome.accuracies.top_5;
        result_.top_1 = top_1 / static_cast<double>(i);
        result_.top_5 = top_5 / static_cast<double>(i);
      }
      if (i == 1 || i % settings_.lines.every == 0) {
        print(i, outcome);
      }
      progress_.update(i);
      result_.stop = parts_.stopping.after_steps(i);
    }
    if (parts_.watch != nullptr) {
      parts_.watch->end();
    }
  }

  /// A forward-only run has no loss that would show numbers that are none.
  void check_logits() {
    if (settings_.training() || result_.steps.empty()) {
      return;
    }
    const std::vector<float> logits = parts_.tower.executor().read_output_as_floats("logits");
    if (!std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); })) {
      throw LossError(cat("the logits of the last step are not all finite: the variables or the ",
                          "images are out of what ",
                          settings_.int8 ? "int8" : name_of(settings_.dtype), " holds"));
    }
  }

  /// Waits for a batch and gives it to the tower.
  void feed() {
    const nanoseconds begin = parts_.clock.now();
    const InputBatch batch = parts_.input.next();
    result_.input_wait += parts_.clock.now() - begin;
    parts_.tower.feed(batch.images, batch.labels);
  }

  /// Whether the next step's batch is to be on its way while this one runs.
  [[nodiscard]] bool feeds_ahead() const {
    const auto measured = static_cast<std::int64_t>(result_.steps.size());
    return parts_.tower.feeds_ahead() && measured + 1 < parts_.stopping.limits().steps;
  }

  /// One synchronous step: waits for a batch, runs it, updates the variables, reads the loss.
  Outcome step() {
    const nanoseconds begin = parts_.clock.now();
    if (!fed_) {
      feed();
      if (feeds_ahead()) {
        parts_.tower.wait();  // The batch is the input's again when it gives the next one.
      }
    }
    parts_.tower.set_orders({.learning_rate = learning_rate_.at(global_step_),
                             .number = layer_step(settings_, global_step_)});
    step_.enqueue();
    fed_ = feeds_ahead();
    if (fed_) {
      feed();
    }
    parts_.tower.wait();
    Outcome outcome = read_outcome();
    result_.skipped_updates = parts_.tower.seen_state().skipped;
    outcome.duration = parts_.clock.now() - begin;
    if (!std::isfinite(outcome.loss)) {
      throw LossError(
          global_step_ == 0
              ? cat("the loss is ", outcome.loss, " in the first step, before any update: the ",
                    "variables or the images are out of what ", name_of(settings_.dtype), " holds")
              : cat("the loss is ", outcome.loss, " after ", global_step_ + 1,
                    " steps; a lower learning rate (--init_learning_rate) may help"));
    }
    ++global_step_;
    return outcome;
  }

  /// The numbers of the step that is done.
  [[nodiscard]] Outcome read_outcome() const {
    const Executor& executor = parts_.tower.executor();
    Outcome outcome{.duration = {}, .loss = 0, .accuracies = {}};
    for (const Executor::Scalar loss : losses_) {
      outcome.loss += executor.value(loss);
    }
    if (settings_.accuracies()) {
      outcome.accuracies = {.top_1 = executor.value(top_1_), .top_5 = executor.value(top_5_)};
    }
    return outcome;
  }

  void print(std::int64_t number, const Outcome& outcome) {
    progress_.clear();
    report::StepLine line{
        .step = number,
        .speed = speed_of_steps(settings_.batch, result_.steps, settings_.lines.ewma),
        .loss = outcome.loss};
    if (settings_.accuracies()) {
      line.accuracies = outcome.accuracies;
    }
    report::print_step(parts_.out, line);
  }

  [[nodiscard]] double images_per_second() const {
    const double seconds = std::chrono::duration<double>(result_.wall).count();
    return static_cast<double>(settings_.batch) * static_cast<double>(result_.steps.size()) /
           seconds;
  }

  const RunSettings& settings_;
  const SessionParts& parts_;
  SessionResult& result_;
  LearningRate learning_rate_;
  RepeatedStep step_;
  Progress progress_;
  /// They add up to the reported loss; none in a forward-only run.
  std::vector<Executor::Scalar> losses_;
  Executor::Scalar top_1_{};
  Executor::Scalar top_5_{};
  /// The tower has the next step's batch.
  bool fed_ = false;
  std::int64_t global_step_ = 0;
};

}  // namespace

std::unique_ptr<UpdateStrategy> make_run_strategy(const RunSettings& settings, Tower& tower) {
  if (!settings.training()) {
    return nullptr;
  }
  const std::array<Tower*, 1> towers{&tower};
  OptimizerSettings optimizer = settings.optimizer;
  optimizer.loss_scale = loss_scale_rule(settings);
  return settings.strategy->make(towers, optimizer);
}

StepLimits step_limits(const RunSettings& settings) {
  StepLimits limits{.warmup_steps = settings.warmup.num_batches,
                    .steps = settings.steps.num_batches};
  if (settings.max_seconds) {
    constexpr double kLongestSeconds = 9e9;  // what nanoseconds can hold
    limits.time = nanoseconds(
        static_cast<std::int64_t>(std::min(*settings.max_seconds, kLongestSeconds) * 1e9));
  }
  return limits;
}

void run_session(const RunSettings& settings, const SessionParts& parts, SessionResult& result) {
  Session(settings, parts, result).run();
}

}  // namespace bench
