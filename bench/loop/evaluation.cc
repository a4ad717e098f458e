#include "bench/loop/evaluation.h"

#include <algorithm>
#include <cmath>

#include "bench/loop/batches_ahead.h"
#include "bench/loop/feeding.h"
#include "bench/loop/finite_results.h"
#include "bench/plan/evaluation_settings.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

/// The images of a batch that an evaluation counts.
struct CountedImages {
  /// Not 0: the image counts.
  std::vector<char> rows;
  std::int64_t count = 0;
  /// Images of this or an earlier batch were the last ones to count.
  bool ended = false;
};

/// Counts the images of the first `passes` passes over the dataset (0: of all), except bad ones.
CountedImages counted_images(const InputBatch& batch, std::int64_t images, std::int64_t passes) {
  CountedImages counted{.rows = std::vector<char>(static_cast<std::size_t>(images), 1),
                        .count = images};
  if (batch.epochs == nullptr) {
    return counted;
  }
  for (std::int64_t row = 0; row < images; ++row) {
    const bool beyond = passes > 0 && batch.epochs[row] >= passes;
    counted.ended = counted.ended || beyond;
    if (beyond || batch.epochs[row] == kBadImage) {
      counted.rows[static_cast<std::size_t>(row)] = 0;
      --counted.count;
    }
  }
  return counted;
}

/// Throws LossError for a score that is not a number.
void check_finite(const EvaluationScores& scores) {
  for (const report::Score& score : scores.others) {
    if (!std::isfinite(score.value)) {
      throw LossError(
          fmt::format("the evaluation's {} is {}: the logits are too large or not finite",
                      score.name, score.value));
    }
  }
}

}  // namespace

std::string no_scores(const Model& model) {
  switch (model.metric()) {
    case ModelMetric::average_precision:
      return "the evaluation has no result: none of its images has an object";
    case ModelMetric::error_rates:
      return "the evaluation has no result: none of its utterances has a word";
    default:
      return "the evaluation has no result: it has no valid records";
  }
}

void print_scores(std::ostream& out, const EvaluationScores& scores) {
  if (scores.accuracies) {
    report::print_accuracy(out, *scores.accuracies, scores.images);
  }
  if (!scores.others.empty()) {
    report::print_scores(out, scores.others, scores.images);
  }
}

void evaluate(const EvaluationParts& parts, EvaluationResult& result) {
  const RunSettings& settings = parts.settings;
  const Workload& workload = settings.workload;
  Towers& towers = parts.towers;
  const std::int64_t passes = evaluated_passes(settings);
  const std::int64_t batch_images = workload.process_batch();
  const std::int64_t every = settings.outputs.lines.every;
  BatchesAhead batches(parts.input, parts.clock, result.input_wait, parts.interrupted);
  Feeding feeding(workload, workload.batch, towers, batches);
  const auto metric = make_evaluation_metric(*workload.model, towers.size());
  const nanoseconds begin = parts.clock.now();
  nanoseconds line_begin = begin;
  nanoseconds printing{};
  for (std::int64_t i = 1; result.stop == Stop::none; ++i) {
    const nanoseconds step_begin = parts.clock.now();
    // The labels must remain until the logits are there, so the next batch is not brought ahead.
    if (parts.interrupted() || !feeding.begin_step(/*more=*/false)) {
      result.stop = Stop::interrupted;
      break;
    }
    const InputBatch& batch = feeding.batch();
    const CountedImages counted = counted_images(batch, batch_images, passes);
    if (counted.count == 0) {
      result.stop = Stop::complete;
      break;
    }
    towers.run([&](int number) {
      Tower& tower = towers[number];
      feeding.feed(number, 0);
      tower.set_parameters({.number = -1});
      tower.upload_parameters();
      tower.enqueue_run();
      tower.wait();
      const auto first = static_cast<std::size_t>(number * workload.batch);
      metric->add(
          {.tower = number,
           .logits = tower.executor().read_output_as_floats("logits"),
           .batch = batch,
           .first = first,
           .counted =
               std::span(counted.rows).subspan(first, static_cast<std::size_t>(workload.batch))});
    });
    feeding.end_step();
    if (const auto accuracies = metric->end_batch()) {
      result.accuracies.push_back(*accuracies);
    }
    const nanoseconds now = parts.clock.now();
    result.steps.push_back(now - step_begin);
    result.wall = now - begin - printing;
    if (i % every == 0) {
      report::print_evaluated(parts.out, i,
                              static_cast<double>(every * batch_images) /
                                  std::chrono::duration<double>(now - line_begin).count());
      line_begin = parts.clock.now();
      printing += line_begin - now;
    }
    const bool last = passes > 0 ? counted.ended : i >= settings.execution.steps.num_batches;
    if (last) {
      result.stop = Stop::complete;
    } else if (parts.out_of_time && parts.out_of_time()) {
      result.stop = Stop::out_of_time;
    }
  }
  if (!result.steps.empty()) {
    check_logits(towers, workload);
  }
  result.scores = metric->scores();
  check_finite(result.scores);
  if (result.stop != Stop::interrupted) {
    print_scores(parts.out, result.scores);
  }
}

}  // namespace bench
