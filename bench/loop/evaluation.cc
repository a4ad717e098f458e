#include "bench/loop/evaluation.h"

#include <algorithm>
#include <cmath>

#include "bench/loop/batches_ahead.h"
#include "bench/loop/feeding.h"
#include "bench/loop/finite_results.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t kTop5 = 5;

/// The images of a batch that belong to the first `passes` passes over the dataset, which precede
/// the others.
std::int64_t images_within(std::int64_t passes, const InputBatch& batch, std::int64_t images) {
  const std::span epochs(batch.epochs, static_cast<std::size_t>(images));
  return std::ranges::count_if(epochs, [&](std::int64_t epoch) { return epoch < passes; });
}

}  // namespace

EvaluationCounts& EvaluationCounts::operator+=(const EvaluationCounts& other) {
  images += other.images;
  top_1 += other.top_1;
  top_5 += other.top_5;
  return *this;
}

report::Accuracies EvaluationCounts::accuracies() const {
  check(images > 0, "an accuracy needs images");
  const auto all = static_cast<double>(images);
  return {.top_1 = static_cast<double>(top_1) / all, .top_5 = static_cast<double>(top_5) / all};
}

EvaluationCounts count_evaluated(std::span<const float> logits,
                                 std::span<const std::int32_t> labels, std::int64_t images) {
  const std::size_t classes = logits.size() / labels.size();
  EvaluationCounts counts{.images = images};
  for (std::size_t i = 0; i < static_cast<std::size_t>(images); ++i) {
    const auto row = logits.subspan(i * classes, classes);
    const bool finite = std::ranges::all_of(row, [](float logit) { return std::isfinite(logit); });
    const float own = row[static_cast<std::size_t>(labels[i])];
    const auto larger = std::ranges::count_if(row, [&](float logit) { return logit > own; });
    counts.top_1 += finite && larger < 1 ? 1 : 0;
    counts.top_5 += finite && larger < kTop5 ? 1 : 0;
  }
  return counts;
}

EvaluationResult evaluate(const EvaluationParts& parts) {
  const RunSettings& settings = parts.settings;
  const Workload& workload = settings.workload;
  Towers& towers = parts.towers;
  /// 0: as many batches as the settings say.
  const std::int64_t passes = workload.input.dataset ? settings.evaluation.passes : 0;
  const std::int64_t batch_images = workload.process_batch();
  const std::int64_t every = settings.outputs.lines.every;
  EvaluationResult result;
  BatchesAhead batches(parts.input, parts.clock, result.input_wait, parts.interrupted);
  Feeding feeding(workload, workload.batch, towers, batches);
  std::vector<EvaluationCounts> counts(static_cast<std::size_t>(towers.size()));
  const nanoseconds begin = parts.clock.now();
  nanoseconds line_begin = begin;
  for (std::int64_t i = 1; passes > 0 || i <= settings.execution.steps.num_batches; ++i) {
    const nanoseconds step_begin = parts.clock.now();
    // The labels must remain until the logits are there, so the next batch is not brought ahead.
    if (parts.interrupted() || !feeding.begin_step(/*more=*/false)) {
      result.interrupted = true;
      break;
    }
    const InputBatch& batch = feeding.batch();
    const std::int64_t images =
        passes > 0 ? images_within(passes, batch, batch_images) : batch_images;
    if (images == 0) {
      break;
    }
    towers.run([&](int number) {
      Tower& tower = towers[number];
      feeding.feed(number, 0);
      tower.set_parameters({.number = -1});
      tower.upload_parameters();
      tower.enqueue_run();
      tower.wait();
      const std::int64_t first = number * workload.batch;
      counts[static_cast<std::size_t>(number)] =
          count_evaluated(tower.executor().read_output_as_floats("logits"),
                          {batch.labels + first, static_cast<std::size_t>(workload.batch)},
                          std::clamp<std::int64_t>(images - first, 0, workload.batch));
    });
    feeding.end_step();
    EvaluationCounts of_batch;
    for (const EvaluationCounts& of_tower : counts) {
      of_batch += of_tower;
    }
    result.counts += of_batch;
    result.accuracies.push_back(of_batch.accuracies());
    const nanoseconds now = parts.clock.now();
    result.steps.push_back(now - step_begin);
    result.wall = now - begin;
    if (i % every == 0) {
      report::print_evaluated(parts.out, i,
                              static_cast<double>(every * batch_images) /
                                  std::chrono::duration<double>(now - line_begin).count());
      line_begin = now;
    }
    result.out_of_time = parts.out_of_time && parts.out_of_time();
    if (images < batch_images || result.out_of_time) {
      break;
    }
  }
  if (result.counts.images > 0) {
    check_logits(towers, workload);
  }
  if (!result.interrupted && result.counts.images > 0) {
    report::print_accuracy(parts.out, result.counts.accuracies(), result.counts.images);
  }
  return result;
}

}  // namespace bench
