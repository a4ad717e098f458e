#include "bench/runs/measure.h"

#include <glog/logging.h>

#include <optional>
#include <string>
#include <utility>

#include "bench/report/build_record.h"
#include "bench/report/device_times.h"
#include "bench/report/input_times.h"
#include "bench/report/world_record.h"
#include "bench/runs/prediction.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/environment/gpu_verdict.h"
#include "results/environment/gpu_watches.h"
#include "results/environment/machine.h"
#include "results/environment/run_watch.h"
#include "results/record/quality_score.h"

namespace bench {
namespace {

/// Adds the verdict, and prints its warnings.
void judge(const RunSettings& settings, const SessionResult& session, results::Record& record) {
  results::Quality& quality = record.quality;
  const std::size_t printed = quality.warnings.size();
  judge_device_times(session, could_send_pixels(settings), quality);
  judge_gpus(record.gpus, quality);
  for (std::string& warning : results::step_warnings(record)) {
    quality.warnings.push_back(std::move(warning));
  }
  for (std::size_t i = printed; i < quality.warnings.size(); ++i) {
    LOG(WARNING) << "warning: " << quality.warnings[i];
  }
}

/// Adds the clock frequency of the card that computed, as the card counts it.
void count_clock(Backend& backend, std::vector<results::Gpu>& gpus) {
  if (gpus.empty()) {
    return;
  }
  for (results::Gpu& gpu : gpus) {
    gpu.counted_sm_mhz = Unknown{"counted only on the first GPU"};
  }
  constexpr double kMega = 1e6;
  if (const std::optional<double> clock = backend.measure_clock()) {
    gpus.front().counted_sm_mhz = *clock / kMega;
  } else {
    gpus.front().counted_sm_mhz = Unknown{"the device does not count cycles"};
  }
}

/// Measures a run that only evaluates variables after `step` training steps. Adds the evaluation to
/// the record.
void evaluate_alone(const RunSettings& settings, const SessionParts& parts, std::int64_t step,
                    SessionResult& session, results::Record& record) {
  EvaluationLog log(settings.evaluation.events);
  parts.stopping.begin();
  parts.stopping.begin_measuring();
  const InputStatistics before = parts.input.statistics();
  parts.watch->begin();
  EvaluationResult result;
  const auto keep_measurements = [&] {
    parts.watch->end();
    session.input = parts.input.statistics().since(before);
    session.steps = std::move(result.steps);
    session.accuracies = std::move(result.accuracies);
    session.wall = result.wall;
    session.input_wait = result.input_wait;
    session.own_steps = static_cast<std::int64_t>(session.steps.size());
    session.stop = result.stop;
  };
  try {
    evaluate({.settings = settings,
              .towers = parts.towers,
              .input = parts.input,
              .clock = parts.clock,
              .out = parts.out,
              .interrupted = [&] { return parts.stopping.interrupted(); },
              .out_of_time = [&] { return parts.stopping.out_of_time(); }},
             result);
  } catch (...) {
    keep_measurements();
    throw;
  }
  keep_measurements();
  if (result.scores.images > 0) {
    if (const auto& accuracies = result.scores.accuracies) {
      session.top_1 = accuracies->top_1;
      session.top_5 = accuracies->top_5;
    }
    record.evaluations.push_back(recorded(result.scores, step));
    record.evaluations.back().seconds = std::chrono::duration<double>(result.wall).count();
    if (session.stop != Stop::interrupted) {
      log.add(step, result.scores);
    }
  }
  if (session.stop == Stop::complete && result.scores.images == 0) {
    throw DataError(no_scores(*settings.workload.model));
  }
  if (session.stop == Stop::interrupted) {
    print_scores(parts.out, result.scores);
  } else {
    report::print_total(parts.out, settings.workload.model->unit().name,
                        session.speed(settings.workload));
  }
}

/// What follows each step of a training run. Returns false to end it.
bool act_after_step(Prepared& prepared, const CompletedStep& step) {
  Towers& towers = *prepared.towers;
  if (prepared.events != nullptr) {
    prepared.events->after_step(towers, step);
  }
  if (step.last) {
    return true;
  }
  const TrainingProgress progress{
      .steps = step.steps, .warmup = step.steps - step.measured, .input = step.next};
  if (prepared.checkpoints != nullptr) {
    prepared.checkpoints->between_steps(towers, progress);
  }
  if (prepared.evaluator == nullptr) {
    return true;
  }
  try {
    return prepared.evaluator->between_steps(towers, step);
  } catch (const LossError&) {
    throw;  // The variables are not worth saving.
  } catch (...) {
    if (prepared.checkpoints != nullptr) {
      prepared.checkpoints->finish(towers, progress);
    }
    throw;
  }
}

}  // namespace

Measured measure(Begun& begun, Prepared& prepared, RunHost& host) {
  StoppingRule stopping(step_limits(begun.settings.execution), host.clock,
                        [&] { return host.end_asked(); });
  GpuWatches watches(prepared.sensors, host.clock);
  results::Record& record = begun.file.record();
  RunWatch around(host.files, host.clock, record.cpu.processors_used.value_or({}), &watches,
                  host.world.neighbours);
  Measured measured;
  SessionParts parts{.towers = *prepared.towers,
                     .input = *prepared.input,
                     .clock = host.clock,
                     .stopping = stopping,
                     .out = host.streams.out,
                     .progress = host.streams.err,
                     .progress_terminal = host.streams.err_terminal,
                     .watch = &around,
                     .world = host.world.others()};
  if (Checkpointing* const checkpoints = prepared.checkpoints.get()) {
    parts.steps_before = checkpoints->steps_before();
    parts.training_warmup = checkpoints->training_warmup();
    parts.restore = [&, checkpoints](int tower) { checkpoints->restore(parts.towers, tower); };
  }
  if (prepared.checkpoints != nullptr || prepared.evaluator != nullptr) {
    parts.after_step = [&](const CompletedStep& step) { return act_after_step(prepared, step); };
  }
  measured.session.first_step_at = host.clock.now();
  measured.attempt.at([&] {
    if (begun.settings.workload.evaluation()) {
      evaluate_alone(begun.settings, parts, prepared.tensor_files.source_step(), measured.session,
                     record);
    } else {
      run_session(begun.settings, parts, measured.session);
    }
    count_clock(*prepared.devices.front().backend, record.gpus);
  });
  World& world = *host.world.world;
  if (host.world.several() && !measured.attempt.succeeded()) {
    // The others still wait for this process's part of the step.
    world.fail(fmt::format("{}: {}", world.name(world.rank()), measured.attempt.reason()));
  }
  around.end();
  around.add_to(record);
  if (const auto& throttled = record.load.throttling.time; throttled.known()) {
    measured.session.throttled = throttled.value();
  }
  measured.session.processors = processors_within_quota(host);
  measured.session.device_threads = 0;
  for (const Device& device : prepared.devices) {
    measured.session.device_threads += static_cast<int>(device.processors.size());
  }
  watches.add_to(record.gpus);
  if (!record.gpus.empty()) {
    add_gpu_energy(record);
  }
  measured.input = prepared.input->statistics();
  if (begun.begin.peak_is_own) {
    measured.peak_rss = peak_rss_bytes(host.files);
  } else {
    measured.peak_rss = Unknown{"the system cannot reset it after an earlier run"};
  }
  add_measurements(record, begun.settings,
                   {.session = measured.session,
                    .memory = begun.memory,
                    .input = measured.input,
                    .setup = measured.session.first_step_at - begun.begin.at,
                    .peak_rss = measured.peak_rss,
                    .times_before = begun.before.times},
                   host.files);
  if (host.world.several() && world.failure().empty()) {
    record.world = {.launcher = host.world.launcher,
                    .mpi = world.library(),
                    .parameter_servers = world.size() - world.workers(),
                    .ranks = read_ranks(world.gather(rank_text(record, measured.session)))};
    if (const auto& link = host.world.link) {
      record.world->link = results::Link{.latency = link->latency,
                                         .per_message = link->per_message,
                                         .bytes_per_second = link->bytes_per_second,
                                         .error = link->error};
      check(prepared.towers->update(0)->sum_times() != nullptr, "the gradients are not added");
      predict_speeds(begun.settings, measured.session, *prepared.towers->update(0)->sum_times(),
                     *record.world, host.streams.out);
    }
    // Only rank 0 prints and has a record.
    const std::string bad = measured.input.bad_records.total() > 0
                                ? fmt::format("{} skipped {}", world.name(world.rank()),
                                              describe(measured.input.bad_records))
                                : "";
    const std::vector<std::string> all_bad = world.gather(bad);
    for (std::size_t rank = 1; rank < all_bad.size(); ++rank) {
      if (!all_bad[rank].empty()) {
        LOG(WARNING) << "warning: " << printable(all_bad[rank]);
        record.quality.warnings.push_back(all_bad[rank]);
      }
    }
    for (std::string& warning :
         rank_warnings(record.world->ranks, [&](int rank) { return world.name(rank); })) {
      LOG(WARNING) << "warning: " << printable(warning);
      record.quality.warnings.push_back(std::move(warning));
    }
  }
  judge(begun.settings, measured.session, record);
  return measured;
}

}  // namespace bench
