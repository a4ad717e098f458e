#include "bench/runs/event_log.h"

#include <glog/logging.h>

#include <cmath>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::int64_t kWithVariables = 3;

}  // namespace

EventLog::EventLog(const RunSettings& settings, std::int64_t steps_before, const Clock& clock)
    : settings_(settings),
      clock_(clock),
      file_(*settings.outputs.checkpoints.folder),
      last_step_(steps_before) {
  // Readers drop what earlier files recorded from this step on.
  file_->write(steps_before, EventFile::Session::start);
}

EventLog::~EventLog() {
  try {
    if (file_) {
      file_->write(last_step_, EventFile::Session::stop);
    }
  } catch (const WriteError&) {
    // The events before remain readable.
  }
}

void EventLog::after_step(Towers& towers, const CompletedStep& step) {
  const double next_scale = towers.first().seen_state().loss_scale;
  // The last step of the warm-up counts as 0, like in tf_cnn_benchmarks.
  if (file_ && step.measured % settings_.outputs.events.every_steps == 0) {
    record(towers, step, loss_scale_.value_or(next_scale));
  }
  loss_scale_ = next_scale;
}

void EventLog::record(Towers& towers, const CompletedStep& step, double loss_scale) {
  EventSummary summary;
  if (step.accuracies) {
    summary.scalar("top_1_accuracy", step.accuracies->top_1)
        .scalar("top_5_accuracy", step.accuracies->top_5);
  }
  Tower& tower = towers.first();
  const bool total = settings_.outputs.lines.loss == ReportedLoss::total;
  summary.scalar("learning_rate_1", step.learning_rate)
      .scalar(total ? "total_loss" : "base_loss", step.loss);
  if (loss_scale_rule(settings_.workload).automatic) {
    summary.scalar("loss_scale", loss_scale);
  }
  const std::chrono::nanoseconds now = clock_.now();
  if (last_time_ && now > *last_time_) {
    summary.scalar("global_step/sec", static_cast<double>(step.steps - last_step_) /
                                          std::chrono::duration<double>(now - *last_time_).count());
  }
  if (settings_.outputs.events.with_gradients()) {
    add_gradients(tower, loss_scale, summary);
  }
  try {
    file_->write(step.steps, summary);
  } catch (const WriteError& error) {
    LOG(WARNING) << "warning: " << error.what() << "; no more events are recorded";
    file_.reset();
  }
  last_step_ = step.steps;
  last_time_ = now;
}

void EventLog::add_gradients(Tower& tower, double loss_scale, EventSummary& summary) const {
  Executor& executor = tower.executor();
  const bool each = settings_.outputs.events.verbosity >= kWithVariables;
  // The update applies the gradients with this factor.
  const double factor = gradient_scale(settings_.workload) / loss_scale;
  EventHistogram logarithms;
  for (std::size_t i = 0; i < executor.segments().size(); ++i) {
    const std::string& name = executor.segment_name(i);
    EventHistogram gradients;
    for (const float gradient : executor.read_gradient(name)) {
      const double applied = factor * static_cast<double>(gradient);
      if (applied != 0) {
        logarithms.add(std::log(std::abs(applied)));
      }
      gradients.add(applied);
    }
    if (each) {
      EventHistogram values;
      for (const float value : executor.read_variable(name)) {
        values.add(static_cast<double>(value));
      }
      summary.histogram(fmt::format("{}/gradients", name), gradients).histogram(name, values);
    }
  }
  summary.histogram("log_gradients_summary/log_gradients", logarithms);
}

EvaluationLog::EvaluationLog(const std::optional<std::string>& folder) {
  if (folder) {
    file_.emplace(*folder);
  }
}

void EvaluationLog::add(std::int64_t step, const EvaluationScores& scores) {
  if (!file_) {
    return;
  }
  EventSummary summary;
  if (scores.accuracies) {
    summary.scalar("eval/Accuracy@1", scores.accuracies->top_1)
        .scalar("eval/Accuracy@5", scores.accuracies->top_5);
  }
  for (const report::Score& score : scores.others) {
    summary.scalar(fmt::format("eval/{}{}", scores.group, score.name), score.value);
  }
  file_->write(step, summary);
}

}  // namespace bench
