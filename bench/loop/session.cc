#include "bench/loop/session.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>

#include "bench/loop/repeated_step.h"
#include "bench/loop/step_statistics.h"
#include "bench/plan/memory_check.h"
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
        image_elements_(image_elements(settings) * static_cast<std::size_t>(settings.batch)),
        progress_(parts.progress, parts.clock, {.terminal = parts.progress_terminal}) {
    find_scalars();
    make_steps();
    // Longer lists grow between steps, outside what is timed.
    const auto expected =
        static_cast<std::size_t>(std::min(parts.stopping.limits().steps, kReservedSteps));
    result_.steps.reserve(expected);
    if (!parts.towers.first().backend().shares_host_memory()) {
      result_.device_steps.reserve(expected);
    }
    result_.losses.reserve(settings.training() ? expected : 0);
    result_.accuracies.reserve(settings.accuracies() ? expected : 0);
    if (steps_.size() > 1) {
      result_.gradients_meet = steps_.front()->gradients_meet();
    }
  }

  ~Session() { drop_steps(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void run() {
    parts_.stopping.begin();
    result_.first_step_at = parts_.clock.now();
    report::print_running_warm_up(parts_.out);
    if (warm_up() == Stop::interrupted) {
      result_.stop = Stop::interrupted;
      return;
    }
    progress_.clear();
    if (const std::string& remark = steps_.front()->remark(); !remark.empty()) {
      parts_.progress << "note: " << remark << "\n";
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
  using HostClock = std::chrono::steady_clock;
  /// Of a tower's part of a step.
  struct Laps {
    HostClock::time_point begun;
    HostClock::time_point fed;
    HostClock::time_point done;
  };
  struct Outcome {
    nanoseconds duration{};
    /// On the device.
    std::optional<nanoseconds> device{};
    double loss = 0;
    report::Accuracies accuracies{};
  };

  void find_scalars() {
    const Executor& executor = parts_.towers.first().executor();
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

  /// On the towers' threads, whose devices they use.
  void make_steps() {
    const auto towers = static_cast<std::size_t>(parts_.towers.size());
    steps_.resize(towers);
    outcomes_.resize(towers);
    laps_.resize(towers);
    try {
      parts_.towers.run([&](int tower) {
        parts_.towers[tower].set_loss_scale(loss_scale_rule(settings_).initial);
        steps_[static_cast<std::size_t>(tower)] = std::make_unique<RepeatedStep>(
            settings_.gpu.recording, parts_.towers[tower], parts_.towers.update(tower));
      });
    } catch (...) {
      drop_steps();
      throw;
    }
  }

  void drop_steps() {
    parts_.towers.run([&](int tower) { steps_[static_cast<std::size_t>(tower)].reset(); });
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
    const bool wanted = parts_.towers.size() > 1 || settings_.record.scaling.has_value();
    if (wanted && parts_.towers.first().backend().shares_host_memory()) {
      result_.shares.resize(static_cast<std::size_t>(parts_.towers.size()));
    }
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
      if (outcome.device) {
        result_.device_steps.push_back(*outcome.device);
      }
      if (settings_.training()) {
        result_.loss_first = result_.loss_first.value_or(outcome.loss);
        result_.loss_last = outcome.loss;
        result_.losses.push_back(outcome.loss);
      }
      if (settings_.accuracies()) {
        result_.accuracies.push_back(outcome.accuracies);
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
    bool finite = true;
    std::mutex mutex;
    parts_.towers.run([&](int tower) {
      const std::vector<float> logits =
          parts_.towers[tower].executor().read_output_as_floats("logits");
      const bool all =
          std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); });
      const std::lock_guard lock(mutex);
      finite = finite && all;
    });
    if (!finite) {
      throw LossError(cat("the logits of the last step are not all finite: the variables or the ",
                          "images are out of what ",
                          settings_.int8 ? "int8" : name_of(settings_.dtype), " holds"));
    }
  }

  /// Waits for a batch for all towers.
  InputBatch next_batch() {
    const nanoseconds begin = parts_.clock.now();
    const InputBatch batch = parts_.input.next();
    result_.input_wait += parts_.clock.now() - begin;
    return batch;
  }

  /// Gives a tower its part.
  void feed(int number, const InputBatch& batch) {
    const auto place = static_cast<std::size_t>(number);
    const std::int32_t* const labels =
        batch.labels + place * static_cast<std::size_t>(settings_.batch);
    if (batch.pixels != nullptr) {
      parts_.towers[number].feed_pixels(batch.pixels + place * image_elements_, labels,
                                        batch.content);
    } else {
      parts_.towers[number].feed(batch.images + place * image_elements_, labels, batch.content);
    }
  }

  /// Whether the next step's batch is to be on its way while this one runs.
  [[nodiscard]] bool feeds_ahead() const {
    const auto measured = static_cast<std::int64_t>(result_.steps.size());
    return parts_.towers.size() == 1 && parts_.towers.first().feeds_ahead() &&
           measured + 1 < parts_.stopping.limits().steps;
  }

  /// One synchronous step: waits for a batch, runs it, updates the variables, reads the loss.
  Outcome step() {
    const nanoseconds begin = parts_.clock.now();
    const bool ahead = feeds_ahead();
    const InputBatch batch = fed_ ? InputBatch{} : next_batch();
    const StepOrders orders{.learning_rate = learning_rate_.at(global_step_),
                            .gradient_scale = gradient_scale(settings_),
                            .number = layer_step(settings_, global_step_)};
    const auto run_one = [&](int number) {
      const auto place = static_cast<std::size_t>(number);
      Tower& tower = parts_.towers[number];
      Laps& laps = laps_[place];
      laps.begun = HostClock::now();
      if (!fed_) {
        feed(number, batch);
        if (ahead) {
          tower.wait();  // The batch is the input's again when it gives the next one.
        }
      }
      tower.set_orders(orders);
      laps.fed = HostClock::now();
      steps_[place]->enqueue();
      if (ahead) {
        feed(number, next_batch());
      }
      if (UpdateStrategy* const update = parts_.towers.update(number)) {
        update->watch();
      }
      tower.wait();
      outcomes_[place] = read_outcome(tower.executor());
      outcomes_[place].device = steps_[place]->device_time();
      laps.done = HostClock::now();
    };
    // By reference: a copy would be allocated in every step.
    parts_.towers.run(std::ref(run_one));
    fed_ = ahead;
    add_shares();
    Outcome outcome = mean_outcome();
    result_.skipped_updates = parts_.towers.first().seen_state().skipped;
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

  /// The numbers of a tower's step that is done.
  [[nodiscard]] Outcome read_outcome(const Executor& executor) const {
    Outcome outcome;
    for (const Executor::Scalar loss : losses_) {
      outcome.loss += executor.value(loss);
    }
    if (settings_.accuracies()) {
      outcome.accuracies = {.top_1 = executor.value(top_1_), .top_5 = executor.value(top_5_)};
    }
    return outcome;
  }

  /// Of the step that is done, where the towers tell.
  void add_shares() {
    const auto end = HostClock::now();
    for (std::size_t tower = 0; tower < result_.shares.size(); ++tower) {
      const Laps& laps = laps_[tower];
      const auto computed = steps_[tower]->computed_at();
      const UpdateStrategy* update = parts_.towers.update(static_cast<int>(tower));
      const nanoseconds exchanged = update == nullptr ? nanoseconds(0) : update->exchanged();
      result_.shares[tower] += {.feeding = laps.fed - laps.begun,
                                .computing = computed - laps.fed,
                                .exchanging = exchanged,
                                .updating = laps.done - computed - exchanged,
                                .waiting = end - laps.done};
    }
  }

  /// Of all towers; of the devices' times the longest.
  [[nodiscard]] Outcome mean_outcome() const {
    Outcome mean;
    for (const Outcome& outcome : outcomes_) {
      mean.device = std::max(mean.device, outcome.device);
      mean.loss += outcome.loss;
      mean.accuracies.top_1 += outcome.accuracies.top_1;
      mean.accuracies.top_5 += outcome.accuracies.top_5;
    }
    const auto towers = static_cast<double>(outcomes_.size());
    mean.loss /= towers;
    mean.accuracies.top_1 /= towers;
    mean.accuracies.top_5 /= towers;
    return mean;
  }

  void print(std::int64_t number, const Outcome& outcome) {
    progress_.clear();
    report::StepLine line{
        .step = number,
        .speed = speed_of_steps(settings_.global_batch(), result_.steps, settings_.lines.ewma),
        .loss = outcome.loss};
    if (settings_.accuracies()) {
      line.accuracies = outcome.accuracies;
    }
    report::print_step(parts_.out, line);
  }

  [[nodiscard]] double images_per_second() const {
    const double seconds = std::chrono::duration<double>(result_.wall).count();
    return static_cast<double>(settings_.global_batch()) *
           static_cast<double>(result_.steps.size()) / seconds;
  }

  const RunSettings& settings_;
  const SessionParts& parts_;
  SessionResult& result_;
  LearningRate learning_rate_;
  /// Of one tower's batch.
  std::size_t image_elements_;
  Progress progress_;
  /// They add up to the reported loss; none in a forward-only run.
  std::vector<Executor::Scalar> losses_;
  Executor::Scalar top_1_{};
  Executor::Scalar top_5_{};
  /// Of each tower: its step, and what it made of the step in hand.
  std::vector<std::unique_ptr<RepeatedStep>> steps_;
  std::vector<Outcome> outcomes_;
  std::vector<Laps> laps_;
  /// The towers have the next step's batch.
  bool fed_ = false;
  std::int64_t global_step_ = 0;
};

}  // namespace

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
