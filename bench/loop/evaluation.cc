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
                                 std::span<const std::int32_t> labels,
                                 std::span<const char> counted) {
  const std::size_t classes = logits.size() / labels.size();
  EvaluationCounts counts;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (counted[i] == 0) {
      continue;
    }
    ++counts.images;
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
  check(workload.model->classifies_images(), "only networks that classify images are evaluated");
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
    const CountedImages counted = counted_images(batch, batch_images, passes);
    if (counted.count == 0) {
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
      const auto images = static_cast<std::size_t>(workload.batch);
      counts[static_cast<std::size_t>(number)] = count_evaluated(
          tower.executor().read_output_as_floats("logits"), {batch.labels + first, images},
          std::span(counted.rows).subspan(first, images));
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
    if (counted.ended || result.out_of_time) {
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
