#include "bench/runs/evaluator.h"

#include <glog/logging.h>

#include <algorithm>

#include "bench/loop/run_towers.h"
#include "bench/plan/input.h"
#include "bench/plan/network.h"
#include "bench/plan/staging_allocator.h"
#include "models/base/errors.h"

namespace bench {
namespace {

InitialValues values_of(Tower& tower) {
  InitialValues values;
  const Executor& executor = tower.executor();
  for (const Variable& variable : executor.graph().variables()) {
    const std::string& name = executor.graph().value(variable.value).name;
    values.emplace(name, tower.executor().read_variable(name));
  }
  return values;
}

}  // namespace

results::Evaluation recorded(const EvaluationScores& scores, std::int64_t step) {
  results::Evaluation evaluation{.step = step, .images = scores.images};
  if (scores.accuracies) {
    evaluation.top_1 = scores.accuracies->top_1;
    evaluation.top_5 = scores.accuracies->top_5;
  }
  for (const report::Score& score : scores.others) {
    evaluation.scores.emplace(score.name, score.value);
  }
  return evaluation;
}

void Evaluator::note_time_to(double accuracy) const {
  double evaluating = 0;
  for (const results::Evaluation& earlier : std::span(done_).first(done_.size() - 1)) {
    evaluating += earlier.seconds;
  }
  LOG(INFO) << fmt::format(
      "note: {} {:g} was reached {:.1f} s after the start of this run, of which {:.1f} s "
      "were for earlier evaluations",
      settings_.workload.model->metric() == ModelMetric::accuracy ? "top-1 accuracy"
                                                                  : "average precision",
      accuracy, done_.back().seconds_since_start, evaluating);
}

Evaluator::Evaluator(const RunSettings& training, std::span<Device> devices, RunHost& host)
    : training_(training),
      devices_(devices),
      host_(host),
      settings_(evaluation_settings(training)),
      times_(training.evaluation, training.execution.step_request,
             training.execution.steps.num_epochs),
      begun_(host.clock.now()),
      log_(training.evaluation.events) {}

Evaluator::~Evaluator() = default;

bool Evaluator::between_steps(Towers& training, const CompletedStep& step) {
  if (!times_.include(step.measured)) {
    return true;
  }
  std::optional<double> accuracy;
  try {
    accuracy = evaluate_now(training, step.steps, /*last=*/false);
  } catch (const RunEnded&) {
    host_.phases
        .clear();  // The next training step also sees the interruption, and keeps its result.
  }
  if (!accuracy) {
    return true;
  }
  const std::optional<double>& stop_at = training_.evaluation.stop_at_top_1;
  if (stop_at && *accuracy >= *stop_at) {
    report::print_stopping_at_accuracy(host_.streams.out, *stop_at);
    note_time_to(*stop_at);
    reached_ = *accuracy;
    return false;
  }
  report::print_resuming_training(host_.streams.out);
  return true;
}

void Evaluator::finish(Towers& training, std::int64_t steps) {
  report::print_done_with_training(host_.streams.out);
  if (!reached_) {
    evaluate_now(training, steps, /*last=*/true);
  }
  // The check of the network needs the memory.
  towers_.reset();
}

std::optional<double> Evaluator::evaluate_now(Towers& training, std::int64_t steps, bool last) {
  report::print_running_evaluation(host_.streams.out, steps, last);
  const auto begin = host_.clock.now();
  const InitialValues values = values_of(training.first());
  if (towers_ == nullptr) {
    make_towers(values);
  } else {
    towers_->run([&](int tower) { (*towers_)[tower].write_variables(values); });
  }
  const auto input =
      make_run_input(settings_, image_layout(settings_.workload, towers_->first().executor()),
                     host_.input_watch(*settings_.workload.model),
                     make_staging_allocator(*devices_.front().backend));
  EvaluationResult result;
  evaluate({.settings = settings_,
            .towers = *towers_,
            .input = *input,
            .clock = host_.clock,
            .out = host_.streams.out,
            .interrupted = [&] { return host_.end_asked(); }},
           result);
  if (const BadRecordCounts bad = input->statistics().bad_records; bad.total() > 0) {
    LOG(WARNING) << "warning: the evaluation skipped " << describe(bad);
  }
  const bool interrupted = result.stop == Stop::interrupted;
  if (!interrupted && result.scores.images == 0) {
    LOG(WARNING) << "warning: " << no_scores(*settings_.workload.model);
  }
  if (interrupted || result.scores.images == 0) {
    return std::nullopt;
  }
  const auto now = host_.clock.now();
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  results::Evaluation& done = done_.emplace_back(recorded(result.scores, steps));
  done.seconds_since_start = seconds(begin - begun_);
  done.seconds = seconds(now - begin);
  log_.add(steps, result.scores);
  return result.scores.main_score();
}

void Evaluator::make_towers(const InitialValues& values) {
  Backend& backend = *devices_.front().backend;
  const ExecutorOptions options{.format = settings_.execution.format,
                                .deterministic = settings_.execution.deterministic,
                                .pixels = settings_.execution.lowering().pixels};
  TowerSources sources{.backends = {},
                       .graph =
                           [&](int number) {
                             return build_run_graph(of_tower(settings_, number), backend,
                                                    settings_.workload.batch);
                           },
                       .options = options,
                       .values = values};
  for (const Device& device : devices_) {
    sources.backends.push_back(device.backend.get());
  }
  towers_ = make_run_towers(settings_, host_.tower_threads(), sources);
}

}  // namespace bench
