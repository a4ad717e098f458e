#include "bench/loop/session.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/loop/batches_ahead.h"
#include "bench/loop/feeding.h"
#include "bench/loop/finite_results.h"
#include "bench/loop/joint_steps.h"
#include "bench/loop/step_outcome.h"
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
        learning_rate_(settings.workload.learning_rate),
        progress_(parts.progress, parts.clock, {.terminal = parts.progress_terminal}),
        batches_(parts.input, parts.clock, result.input_wait, [this] { return gives_batch_up(); }),
        feeding_(settings.workload, images_at_once(settings), parts.towers, batches_),
        runs_(runs_per_step(settings)),
        global_step_(parts.steps_before) {
    result_.steps_before = parts.steps_before;
    result_.training_warmup = parts.training_warmup.value_or(parts.stopping.limits().warmup_steps);
    find_scalars();
    make_steps();
    // Longer lists grow between steps, outside the measured time.
    const auto expected =
        static_cast<std::size_t>(std::min(parts.stopping.limits().steps, kReservedSteps));
    result_.steps.reserve(expected);
    if (!parts.towers.first().backend().shares_host_memory()) {
      result_.device_steps.reserve(expected);
    }
    result_.losses.reserve(settings.workload.training() ? expected : 0);
    result_.accuracies.reserve(settings.workload.accuracies() ? expected : 0);
    if (steps_.size() > 1 || parts.world != nullptr) {
      result_.reduced_on = steps_.front()->reduced_on();
    }
  }

  ~Session() { drop_steps(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void run() {
    parts_.stopping.begin();
    result_.first_step_at = parts_.clock.now();
    if (settings_.workload.asynchronous) {
      joint_.emplace(settings_.workload.processes, result_.first_step_at);
      result_.staleness.emplace();
    }
    report::print_running_warm_up(parts_.out);
    if (const Stop stop = warm_up(); stop == Stop::interrupted || stop == Stop::enough) {
      result_.stop = stop;
      agree_on_stop();
      return;
    }
    progress_.clear();
    if (const std::string& remark = steps_.front()->remark(); !remark.empty()) {
      parts_.progress << "note: " << remark << "\n";
    }
    report::print_done_warm_up(parts_.out);
    measure();
    progress_.clear();
    agree_on_stop();
    if (!settings_.workload.training() && !result_.steps.empty()) {
      // The batch of an interrupted step may be gone.
      check_logits(parts_.towers, settings_.workload, result_.stop == Stop::interrupted ? 1 : runs_,
                   [this](int tower, std::int64_t run) { compute(tower, run); });
    }
    if (result_.stop != Stop::interrupted) {
      report::print_total(parts_.out, settings_.workload.model->unit().name,
                          result_.speed(settings_.workload));
    }
  }

 private:
  /// True if the run no longer waits for its batch. The other processes may already be in
  /// the step, so a process among several still takes part in it if the batch comes soon.
  [[nodiscard]] bool gives_batch_up() {
    constexpr std::chrono::seconds kPatience{2};
    if (!parts_.stopping.interrupted() || parts_.world == nullptr) {
      return parts_.stopping.interrupted();
    }
    const nanoseconds now = parts_.clock.now();
    interrupted_at_ = interrupted_at_.value_or(now);
    return now - *interrupted_at_ > kPatience;
  }

  void find_scalars() {
    const Executor& executor = parts_.towers.first().executor();
    if (settings_.workload.training()) {
      losses_.push_back(executor.scalar("loss"));
      if (settings_.outputs.lines.loss == ReportedLoss::total &&
          executor.graph().outputs().contains("l2_loss")) {
        losses_.push_back(executor.scalar("l2_loss"));
      }
    }
    if (settings_.workload.accuracies()) {
      top_1_ = executor.scalar("top_1");
      top_5_ = executor.scalar("top_5");
    }
  }

  /// Makes the steps on the towers' threads, which use the devices.
  void make_steps() {
    const auto towers = static_cast<std::size_t>(parts_.towers.size());
    steps_.resize(towers);
    outcomes_.resize(towers);
    outcomes_of_runs_.assign(towers, std::vector<StepOutcome>(static_cast<std::size_t>(runs_)));
    laps_.resize(towers);
    try {
      parts_.towers.run([&](int tower) {
        parts_.towers[tower].set_loss_scale(loss_scale_rule(settings_.workload).initial);
        if (parts_.restore) {
          parts_.restore(tower);
        }
        steps_[static_cast<std::size_t>(tower)] = std::make_unique<RepeatedStep>(
            settings_.execution.gpu.recording, parts_.towers[tower], parts_.towers.update(tower));
      });
      skipped_before_ = parts_.towers.first().seen_state().skipped;
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
      const std::optional<StepOutcome> stepped = joint_step();
      if (!stepped) {
        return Stop::interrupted;
      }
      stop = stop_after(++result_.warmup_steps, *stepped);
      if (!end_step(*stepped, stop == Stop::interrupted)) {
        return Stop::enough;
      }
      progress_.update(result_.warmup_steps);
    }
    return stop;
  }

  void measure() {
    report::print_step_titles(
        parts_.out, settings_.workload.model->unit().name,
        settings_.outputs.lines.loss == ReportedLoss::total ? "total_loss" : "base_loss",
        settings_.workload.accuracies());
    progress_.start("measuring", parts_.stopping.limits().steps);
    result_.input_wait = {};
    const InputStatistics before = parts_.input.statistics();
    const bool wanted = parts_.towers.size() > 1 || parts_.world != nullptr ||
                        settings_.outputs.record.scaling.has_value();
    if (wanted && parts_.towers.first().backend().shares_host_memory()) {
      result_.shares.resize(static_cast<std::size_t>(parts_.towers.size()));
    }
    measuring_ = true;
    if (!parts_.training_warmup) {
      result_.training_warmup = result_.warmup_steps;
    }
    parts_.stopping.begin_measuring();
    if (parts_.watch != nullptr) {
      parts_.watch->begin();
    }
    const nanoseconds begin = parts_.clock.now();
    result_.paused = {};
    double top_1 = 0;
    double top_5 = 0;
    for (std::int64_t i = 1; result_.stop == Stop::none; ++i) {
      const std::optional<StepOutcome> stepped = joint_step();
      if (!stepped) {
        result_.stop = Stop::interrupted;
        break;
      }
      const StepOutcome& outcome = *stepped;
      result_.wall = joint_ ? result_.wall + outcome.duration
                            : parts_.clock.now() - begin - result_.paused - result_.printing;
      append_outcome(outcome, settings_.workload, result_);
      if (settings_.workload.accuracies()) {
        result_.accuracies.push_back(outcome.accuracies);
        top_1 += outcome.accuracies.top_1;
        top_5 += outcome.accuracies.top_5;
        result_.top_1 = top_1 / static_cast<double>(i);
        result_.top_5 = top_5 / static_cast<double>(i);
      }
      if (i == 1 || i % settings_.outputs.lines.every == 0) {
        print(i, outcome);
      }
      result_.stop = stop_after(i, outcome);
      if (!end_step(outcome, result_.stop != Stop::none)) {
        result_.stop = Stop::enough;
      }
      progress_.update(i);
    }
    result_.input = parts_.input.statistics().since(before);
    result_.replayed = std::all_of(steps_.begin(), steps_.end(),
                                   [](const auto& step) { return step->replayed(); });
    if (parts_.watch != nullptr) {
      parts_.watch->end();
    }
  }

  /// What follows a step, and is not measured. Returns false if it ends the run.
  bool end_step(const StepOutcome& outcome, bool last) {
    if (!parts_.after_step) {
      return true;
    }
    const nanoseconds begin = parts_.clock.now();
    progress_.clear();
    const bool goes_on =
        parts_.after_step({.steps = global_step_,
                           .measured = global_step_ - result_.training_warmup,
                           .next = feeding_.position(),
                           .loss = outcome.loss,
                           .accuracies = accuracies_of(outcome, settings_.workload),
                           .learning_rate = parameters_.learning_rate,
                           .last = last});
    result_.paused += parts_.clock.now() - begin;
    return goes_on;
  }

  /// Returns true if another step follows the next one, as far as is known.
  [[nodiscard]] bool goes_on() const {
    const auto measured = static_cast<std::int64_t>(result_.steps.size());
    return joint_ || measured + 1 < parts_.stopping.limits().steps;
  }

  /// step(), or with asynchronous workers as many as the next joint step needs.
  std::optional<StepOutcome> joint_step() {
    if (!joint_) {
      return step();
    }
    std::optional<nanoseconds> duration = joint_->take();
    while (!duration) {
      const std::optional<StepOutcome> own = step();
      if (!own) {
        return std::nullopt;
      }
      last_own_ = *own;
      const ServerReply reply = *parts_.towers.update(0)->reply();
      joint_->report(parts_.clock.now(), reply.updates);
      if (measuring_) {
        result_.staleness->push_back(reply.staleness);
      }
      duration = joint_->take();
    }
    StepOutcome outcome = last_own_;
    outcome.duration = *duration;
    return outcome;
  }

  /// Asynchronous workers end on their own. If one was interrupted, all report that.
  void agree_on_stop() {
    if (joint_) {
      StepOutcome own;
      own.stop = result_.stop;
      result_.stop = agreed_outcome(*parts_.world, own).stop;
    }
  }

  /// Runs one step of this process: waits for a batch, runs it, updates the variables, reads the
  /// loss. Returns nullopt if the run is interrupted before the batch is available.
  std::optional<StepOutcome> step() {
    const nanoseconds begin = parts_.clock.now();
    if (parts_.world != nullptr) {
      parts_.world->set_phase(fmt::format("step {}", global_step_ + 1));
    }
    if (!feeding_.begin_step(goes_on())) {
      if (parts_.world != nullptr) {
        parts_.world->fail(fmt::format("{} ended before its next batch was ready",
                                       parts_.world->name(parts_.world->rank())));
      }
      return std::nullopt;
    }
    const nanoseconds got = parts_.clock.now();
    parameters_ = {.learning_rate = learning_rate_.at(joint_ ? joint_->complete() : global_step_),
                   .gradient_scale = gradient_scale(settings_.workload),
                   .number = layer_step(settings_.workload, global_step_)};
    parts_.towers.run(run_tower_);
    feeding_.end_step();
    StepOutcome outcome = mean_outcome(outcomes_);
    const nanoseconds ready = parts_.clock.now();
    if (parts_.world != nullptr && !joint_) {
      const std::int64_t done =
          measuring_ ? static_cast<std::int64_t>(result_.steps.size()) : result_.warmup_steps;
      outcome.stop = own_stop(done + 1);
      outcome = agreed_outcome(*parts_.world, outcome);
    }
    result_.skipped_updates = parts_.towers.first().seen_state().skipped - skipped_before_;
    const nanoseconds end = parts_.clock.now();
    outcome.duration = end - begin;
    const nanoseconds agreed = parts_.world == nullptr ? nanoseconds(0) : end - ready;
    add_shares({.begun = begin, .input = got, .agreeing = agreed, .done = end});
    check_loss(outcome.loss, global_step_, settings_.workload);
    ++global_step_;
    result_.next_input = feeding_.position();
    if (measuring_) {
      ++result_.own_steps;
      result_.computed += outcome.device.value_or(nanoseconds(0));
      result_.transfers += outcome.transfers;
    }
    return outcome;
  }

  /// A tower's part of the step: launches it with its batch, brings the next batch, reduces and
  /// updates, and reads the loss. Call it on the tower's thread.
  void run_tower(int number) {
    Tower& tower = parts_.towers[number];
    const auto place = static_cast<std::size_t>(number);
    laps_[place].begun = parts_.clock.now();
    std::vector<StepOutcome>& runs = outcomes_of_runs_[place];
    tower.set_parameters(parameters_);
    nanoseconds transfers{};
    for (std::int64_t run = 0; run < runs_; ++run) {
      compute(number, run);
      transfers +=
          settings_.workload.input.dataset ? tower.executor().transfer_time() : nanoseconds(0);
      runs[static_cast<std::size_t>(run)] = read_outcome(tower.executor());
    }
    outcomes_[place] = mean_outcome(runs);
    outcomes_[place].transfers = transfers;
    outcomes_[place].device = steps_[place]->device_time();
    laps_[place].done = parts_.clock.now();
  }

  /// Runs a tower's network on a micro-batch, with the update that follows, and waits.
  void compute(int number, std::int64_t run) {
    const auto place = static_cast<std::size_t>(number);
    feeding_.feed(number, run);
    laps_[place].fed = run == 0 ? parts_.clock.now() : laps_[place].fed;
    feeding_.enqueue(number, *steps_[place]);
    if (UpdateStrategy* const update = parts_.towers.update(number)) {
      update->watch();
    }
    parts_.towers[number].wait();
  }

  [[nodiscard]] StepOutcome read_outcome(const Executor& executor) const {
    StepOutcome outcome;
    for (const Executor::Scalar loss : losses_) {
      outcome.loss += executor.value(loss);
    }
    if (settings_.workload.accuracies()) {
      outcome.accuracies = {.top_1 = executor.value(top_1_), .top_5 = executor.value(top_5_)};
    }
    return outcome;
  }

  /// Adds the parts of the completed step's time, if the towers report them.
  void add_shares(const StepLaps& step) {
    const nanoseconds last = std::ranges::max(laps_, {}, &TowerLaps::done).done;
    for (std::size_t tower = 0; tower < result_.shares.size(); ++tower) {
      const TowerLaps& laps = laps_[tower];
      // Parts are measured only if the session's clock is a SteadyClock.
      const nanoseconds computed = steps_[tower]->computed_at().time_since_epoch();
      const UpdateStrategy* update = parts_.towers.update(static_cast<int>(tower));
      const nanoseconds exchanged = update == nullptr ? nanoseconds(0) : update->exchanged();
      result_.shares[tower] += times_of(step, laps, last, computed, exchanged);
    }
  }

  /// Why the steps end after `done` of them, as far as this process knows.
  [[nodiscard]] Stop own_stop(std::int64_t done) const {
    return measuring_ ? parts_.stopping.after_steps(done)
                      : parts_.stopping.after_warmup_steps(done);
  }

  /// Why the steps end after `done` of them, of which `outcome` is the last.
  [[nodiscard]] Stop stop_after(std::int64_t done, const StepOutcome& outcome) const {
    return parts_.world == nullptr || joint_ ? own_stop(done) : outcome.stop;
  }

  void print(std::int64_t number, const StepOutcome& outcome) {
    const nanoseconds begin = parts_.clock.now();
    progress_.clear();
    report::print_step(parts_.out,
                       {.step = number,
                        .unit = settings_.workload.model->unit().name,
                        .speed = speed_of_steps(settings_.workload.units_per_step(), result_.steps,
                                                settings_.outputs.lines.ewma),
                        .loss = outcome.loss,
                        .accuracies = accuracies_of(outcome, settings_.workload)});
    result_.printing += joint_ ? nanoseconds(0) : parts_.clock.now() - begin;
  }

  const RunSettings& settings_;
  const SessionParts& parts_;
  SessionResult& result_;
  LearningRate learning_rate_;
  Progress progress_;
  BatchesAhead batches_;
  Feeding feeding_;
  /// How often a tower runs its network in a step.
  std::int64_t runs_;
  /// They add up to the reported loss; empty in a forward-only run.
  std::vector<Executor::Scalar> losses_;
  Executor::Scalar top_1_{};
  Executor::Scalar top_5_{};
  /// For each tower: its step, and the outcome of the current step.
  std::vector<std::unique_ptr<RepeatedStep>> steps_;
  std::vector<StepOutcome> outcomes_;
  /// For each tower: the outcomes of the network's runs.
  std::vector<std::vector<StepOutcome>> outcomes_of_runs_;
  std::vector<TowerLaps> laps_;
  std::int64_t global_step_;
  /// The updates that earlier runs of the training skipped.
  std::int64_t skipped_before_ = 0;
  bool measuring_ = false;
  /// Set if workers are asynchronous.
  std::optional<JointSteps> joint_;
  /// This process's last step, if workers are asynchronous.
  StepOutcome last_own_;
  /// When a process among several was first interrupted while it waited for its batch.
  std::optional<nanoseconds> interrupted_at_;
  StepParameters parameters_ = {};
  /// run_tower(); ends the waits for batches if it fails. Made once, because a step must not
  /// allocate.
  const std::function<void(int)> run_tower_ = [this](int number) {
    try {
      run_tower(number);
    } catch (...) {
      batches_.give_up();
      throw;
    }
  };
};

}  // namespace

void run_session(const RunSettings& settings, const SessionParts& parts, SessionResult& result) {
  Session(settings, parts, result).run();
}

}  // namespace bench
