#include "bench/runs/batch_choice.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <vector>

#include "bench/flags/batch_request.h"
#include "bench/loop/run_towers.h"
#include "bench/plan/input.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/micro_batch.h"
#include "bench/plan/network.h"
#include "bench/plan/staging_allocator.h"
#include "bench/quantize/quantization.h"
#include "bench/quantize/quantize_values.h"
#include "bench/runs/batch_search.h"
#include "bench/terminal/stderr_lines.h"
#include "kernels/cpu/affinity.h"
#include "models/base/errors.h"
#include "models/passes/quantize.h"
#include "results/environment/machine.h"
#include "results/record/statistics.h"
#include "variable_mgmt/fold_values.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

/// Speeds closer than this count as equal: runs of one batch differ by about as much.
constexpr double kTolerance = 0.02;
/// A trial ends when it has reached both the time and the steps of `enough`.
constexpr StepLimits kTrial{
    .warmup_steps = 2,
    .steps = 1000,
    .enough = StepLimits::Enough{.steps = 5, .time = std::chrono::seconds(1)}};
/// The remainder is for unplanned memory: the kernels of many layers, and decoders.
constexpr double kPlannedShare = 0.95;
constexpr double kReservedPerCent = 100 * (1 - kPlannedShare);

MemoryLimit plannable(const MemoryLimit& limit, std::size_t less = 0) {
  const double bytes = kPlannedShare * static_cast<double>(limit.bytes) - static_cast<double>(less);
  return {.bytes = static_cast<std::int64_t>(std::max(bytes, 0.0)), .set_by = limit.set_by};
}

/// The part of the limits that may be planned; `host_less` bytes of the host's are already in use.
MemoryLimits plannable(const MemoryLimits& limits, std::size_t host_less = 0) {
  MemoryLimits result = limits;
  if (limits.host.known()) {
    result.host = plannable(limits.host.value(), host_less);
  }
  if (limits.device) {
    result.device = plannable(*limits.device);
  }
  return result;
}

/// The memory of a plan's lists during planning, up to 150 MiB for a thousand layers. It excludes
/// what the process still holds after planning one image.
std::size_t list_bytes(const SystemFiles& files) {
  const auto most = peak_rss_bytes(files);
  const auto now = resident_bytes(files);
  const bool known = most.known() && now.known() && most.value() > now.value();
  return known ? static_cast<std::size_t>(most.value() - now.value()) : 0;
}

/// The settings for trying a batch. Its steps do not change the variables, so the loss cannot
/// diverge.
RunSettings trial_settings(const RunSettings& settings, std::int64_t batch) {
  RunSettings trial = with_batch(settings, batch);
  trial.workload.learning_rate.request = {.init_learning_rate = 0};
  return trial;
}

bool fits(const RunSettings& settings, Backend& backend, const MemoryLimits& allowed) {
  if (!allowed.host.known() && !allowed.device) {
    return true;
  }
  const std::size_t images = image_bytes(settings.workload, settings.workload.batch);
  return allowed.fit({.host = images, .device = images}) &&
         allowed.fit(allowed.need_of(plan_run_memory(settings, backend, settings.workload.batch)));
}

/// The initial values of the variables, the same for every batch.
InitialValues trial_values(const RunSettings& settings, const Backend& backend, RunHost& host) {
  const Workload& workload = settings.workload;
  InitialValues values = initial_values(build_run_network(workload, 1), workload.seed,
                                        host.phases.of("drawing the first values", "part"));
  fold_values(run_folds(workload), values);
  if (workload.int8) {
    const Ranges unknown = unknown_ranges(build_float_graph(workload, backend, 1));
    quantize_values(build_quantized_graph(settings, backend, 1, unknown).weights, values);
  }
  return values;
}

std::string_view how_to_need_less(const Model& model) {
  if (model.classifies_images()) {
    return "smaller images (--image_size)";
  }
  return model.num_classes > 0 && !model.reads_images() ? "a machine with more memory"
                                                        : "fewer classes (--num_classes)";
}

results::BatchTrial trial_of(const Workload& workload, const std::vector<nanoseconds>& steps) {
  const results::StepTimeStatistics statistics = results::step_time_statistics(steps);
  const std::int64_t units = workload.batch * workload.model->unit().per_example;
  return {.batch = workload.batch,
          .images_per_sec = static_cast<double>(units) / statistics.median,
          .spread = statistics.mad / statistics.median,
          .steps = statistics.n};
}

/// Times some steps of the run with these settings.
results::BatchTrial measure(RunSettings& settings, const InitialValues& values, RunHost& host) {
  Backend& backend = *host.device(settings).backend;
  choose_micro_batch(settings, backend);
  const Graph graph = build_run_graph(settings, backend, images_at_once(settings));
  // Destroyed after the tower, because a device may still be reading its images.
  std::unique_ptr<InputSource> input;
  const auto towers = make_lone_tower(settings, host.tower_threads(), graph, backend,
                                      {.format = settings.execution.format,
                                       .deterministic = settings.execution.deterministic,
                                       .pixels = settings.execution.lowering().pixels},
                                      values);
  {
    // The same as in a run: threads that prepare images may run on any processor.
    const cpu::WithProcessors anywhere(host.processors);
    std::optional<cpu::MemoryAsBefore> of_any_node;
    if (host.device(settings).memory) {
      of_any_node.emplace(*host.device(settings).memory);
    }
    input =
        make_run_input(settings, image_layout(settings.workload, towers->first().executor()),
                       host.input_watch(*settings.workload.model), make_staging_allocator(backend));
  }
  host.phases.clear();
  StoppingRule stopping(kTrial, host.clock, [&] { return host.end_asked(); });
  std::ostream nowhere(nullptr);
  SessionResult session;
  run_session(settings,
              {.towers = *towers,
               .input = *input,
               .clock = host.clock,
               .stopping = stopping,
               .out = nowhere,
               .progress = nowhere,
               .progress_terminal = {}},
              session);
  host.phases.stop_if_asked("before the run");
  return trial_of(settings.workload, session.steps);
}

std::string sentence_of(const results::BatchTrial& trial, std::string_view unit) {
  return fmt::format("{}{}: {:.1f} {}/sec, median of {} steps, spread {:.1f} %\n",
                     stderr_line::batch, trial.batch, trial.images_per_sec, unit, trial.steps,
                     100 * trial.spread);
}

/// Warns if step times vary so much that the search may be wrong.
void warn_of_unsteady(const std::vector<results::BatchTrial>& tried) {
  constexpr double kUnsteady = 0.1;
  const auto most = std::max_element(
      tried.begin(), tried.end(), [](const auto& a, const auto& b) { return a.spread < b.spread; });
  if (most != tried.end() && most->spread > kUnsteady) {
    LOG(WARNING) << fmt::format(
        "warning: the step times of batch {} varied by {:.1f} %, so a new search may choose "
        "another "
        "batch. Stop other programs and repeat the search.",
        most->batch, 100 * most->spread);
  }
}

/// Joins the needs on the device and on the host; either may be empty.
std::string both(const std::string& device, const std::string& host) {
  return device.empty() || host.empty() ? device + host : fmt::format("{} and {}", device, host);
}

/// "1.5 GiB of the usable 2.0 GiB (/proc/meminfo (MemAvailable))", for each location
/// whose limit is known.
std::string of_the_limits(const MemoryNeed& need, const MemoryLimits& limits) {
  const auto share = [](std::size_t bytes, const MemoryLimit& limit) {
    return fmt::format("{} of the usable {} ({})", format_bytes(bytes),
                       format_bytes(static_cast<std::size_t>(limit.bytes)), limit.set_by);
  };
  const std::string device = limits.device ? share(need.device, *limits.device) : "";
  const std::string host = limits.host.known() ? share(need.host, limits.host.value()) : "";
  return both(device, host);
}

/// " Batch 112 would need 18.8 GiB.", if that batch was queried.
std::string of_the_next(const LargestBatch& largest, const MemoryLimits& limits) {
  const MemoryNeed& next = largest.next;
  if (next.total() == 0) {
    return "";
  }
  const std::string device = limits.device ? format_bytes(next.device) : "";
  const std::string host = limits.host.known() ? format_bytes(next.host) : "";
  return fmt::format(" Batch {} would need {}.", largest.batch + 1, both(device, host));
}

double best_of(const std::vector<results::BatchTrial>& tried) {
  double best = 0;
  for (const results::BatchTrial& trial : tried) {
    best = std::max(best, trial.images_per_sec);
  }
  return best;
}

}  // namespace

ChosenBatch choose_fastest_batch(const RunSettings& settings, RunHost& host) {
  RunSettings first = trial_settings(settings, 1);
  const auto host_limit = memory_limit(host.files);
  check_variables_memory(first, host_limit);
  const MemoryLimits allowed =
      plannable(limits_of_run(settings.execution, host_limit, host.devices(first)));
  const InitialValues values = trial_values(first, *host.device(first).backend, host);
  std::ostream& err = host.streams.err;
  const SpeedUnit unit = settings.workload.model->unit();
  const auto try_batch = [&](std::int64_t batch) -> std::optional<results::BatchTrial> {
    RunSettings trial = trial_settings(settings, batch);
    const bool fitting = fits(trial, *host.device(trial).backend, allowed);
    host.phases.clear();
    if (!fitting) {
      err << stderr_line::batch << batch << ": does not fit into memory\n";
      return std::nullopt;
    }
    const results::BatchTrial result = measure(trial, values, host);
    err << sentence_of(result, unit.name) << std::flush;
    return result;
  };
  err << stderr_line::batch_request << "auto tries the batch sizes 1, 2, 4 and so on\n"
      << std::flush;
  BatchSearch search = search_batch(try_batch, kTolerance);
  if (search.chosen == 0) {
    throw UsageError(
        fmt::format("--batch_size=auto: one {} of --model={} does not fit into memory; try {}",
                    first.workload.model->example(), first.workload.model->name,
                    how_to_need_less(*first.workload.model)));
  }
  err << stderr_line::batch_request
      << fmt::format("auto: batch {} is the smallest within {:g} % of the best, {:.1f} {}/sec\n",
                     search.chosen, 100 * kTolerance, best_of(search.tried), unit.name);
  warn_of_unsteady(search.tried);
  return {.batch = search.chosen,
          .choice = {.rule = std::string(name_of(BatchRequest::Rule::fastest)),
                     .tried = std::move(search.tried)},
          .unit = unit};
}

void note_slower_than_trial(const ChosenBatch& chosen,
                            std::span<const std::chrono::nanoseconds> steps, std::ostream& err) {
  constexpr double kMuchSlower = 0.9;
  const auto trial =
      std::find_if(chosen.choice.tried.begin(), chosen.choice.tried.end(),
                   [&](const results::BatchTrial& one) { return one.batch == chosen.batch; });
  if (trial == chosen.choice.tried.end() || steps.empty()) return;
  const double speed = static_cast<double>(chosen.batch * chosen.unit.per_example) /
                       results::step_time_statistics(steps).median;
  if (speed >= kMuchSlower * trial->images_per_sec) return;
  err << stderr_line::batch_request
      << fmt::format(
             "auto: the run reached {:.1f} {}/sec, {:.0f} % less than the short trial "
             "({:.1f}). "
             "The machine was probably busier during the run; repeat it (--repeats).\n",
             speed, chosen.unit.name, 100 * (1 - speed / trial->images_per_sec),
             trial->images_per_sec);
}

ChosenBatch choose_largest_batch(const RunSettings& settings, RunHost& host) {
  RunSettings first = with_batch(settings, 1);
  const auto host_limit = memory_limit(host.files);
  if (!host_limit.known() && !settings.execution.gpu.plan_for) {
    throw UsageError(fmt::format(
        "--batch_size=max: the usable memory is unknown ({}); give a number", host_limit.why()));
  }
  check_variables_memory(first, host_limit);
  Backend& backend = *host.device(first).backend;
  MemoryLimits limits = limits_of_run(settings.execution, host_limit, host.devices(first));
  const auto need_for = [&](std::int64_t batch) {
    return limits.need_of(plan_run_memory(first, backend, batch));
  };
  const MemoryNeed one = need_for(1);
  // Read the limits again: they now exclude the device, and what a plan leaves allocated.
  limits = limits_of_run(settings.execution, memory_limit(host.files), host.devices(first));
  const LargestBatch largest = largest_batch(
      first.workload, plannable(limits, list_bytes(host.files)), need_for, kLargestBatch + 1);
  host.phases.clear();
  if (largest.batch == 0) {
    throw UsageError(
        fmt::format("--batch_size=max: one {} needs {}, but {:g} % must remain for unplanned "
                    "memory; try {}",
                    settings.workload.model->example(), of_the_limits(one, limits),
                    kReservedPerCent, how_to_need_less(*settings.workload.model)));
  }
  host.streams.err << stderr_line::batch_request
                   << fmt::format(
                          "max: batch {} needs {}.{} bench leaves {:g} % for unplanned memory.\n",
                          largest.batch, of_the_limits(largest.need, limits),
                          of_the_next(largest, limits), kReservedPerCent);
  return {.batch = largest.batch,
          .choice = {.rule = std::string(name_of(BatchRequest::Rule::largest)), .tried = {}}};
}

}  // namespace bench
