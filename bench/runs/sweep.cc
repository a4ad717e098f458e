#include "bench/runs/sweep.h"

#include <ostream>

#include "bench/loop/step_statistics.h"
#include "bench/plan/network.h"
#include "bench/plan/tensor_files.h"
#include "bench/runs/output_check.h"
#include "bench/runs/own_files.h"
#include "bench/terminal/stderr_lines.h"
#include "bench/terminal/text_table.h"
#include "models/base/errors.h"
#include "results/environment/decimal.h"
#include "results/record/statistics.h"

namespace bench {
namespace {

std::vector<std::string> row_of(const SweptRun& run) {
  const SessionResult& session = run.outcome.session;
  std::vector<std::string> row{fmt::format("{}", run.batch)};
  if (session.steps.empty()) {
    row.insert(row.end(), {"-", "-", "-"});
  } else {
    const std::int64_t per_step = run.outcome.units_per_step;
    const double units = static_cast<double>(per_step) * static_cast<double>(session.steps.size());
    constexpr double kMillisecondsPerSecond = 1e3;
    row.push_back(decimal(units / std::chrono::duration<double>(session.wall).count(), 2));
    row.push_back(decimal(speed_of_steps(per_step, session.steps).uncertainty, 2));
    row.push_back(
        decimal(kMillisecondsPerSecond * results::step_time_statistics(session.steps).median, 2));
  }
  row.push_back(format_bytes(run.outcome.memory.total()));
  const auto& peak = run.outcome.peak_rss;
  row.push_back(peak.known() ? format_bytes(static_cast<std::size_t>(peak.value())) : "unknown");
  row.emplace_back(session.stop == Stop::interrupted
                       ? fmt::format("ended after {} steps", session.steps.size())
                   : run.outcome.status != 0 ? "failed"
                                             : "");
  return row;
}

/// Throws every error that a run can detect before it starts.
void check_run(RunSettings settings, RunHost& host) {
  check_outputs(settings);
  const auto host_limit = memory_limit(host.files);
  check_variables_memory(settings, host_limit);
  const RunTensorFiles files(settings,
                             build_run_network(settings.workload, settings.workload.batch));
  Backend& backend = *host.device(settings).backend;
  const MemoryLimits limits = limits_of_run(settings.execution, host_limit, host.devices(settings));
  const auto need_for = [&](std::int64_t batch) {
    return limits.need_of(plan_run_memory(settings, backend, batch));
  };
  // Planning requires that the images fit, so refuse other batches first.
  check_images_memory(settings.workload, limits, need_for);
  check_memory(settings.workload, plan_run_memory(settings, backend, settings.workload.batch),
               limits, need_for);
}

}  // namespace

RunSettings settings_of_run(const RunSettings& settings, std::int64_t batch) {
  return with_own_files(with_batch(settings, batch), fmt::format("batch{}", batch));
}

void print_sweep(std::ostream& out, std::span<const SweptRun> runs) {
  const std::string_view unit = runs.empty() ? SpeedUnit().name : runs.front().outcome.unit.name;
  TextTable table({{.title = "batch", .right = true},
                   {.title = fmt::format("{}/sec", unit), .right = true},
                   {.title = "+/-", .right = true},
                   {.title = "ms/step", .right = true},
                   {.title = "planned", .right = true},
                   {.title = "peak RSS", .right = true},
                   {.title = ""}});
  for (const SweptRun& run : runs) {
    table.add_row(row_of(run));
  }
  out << table << std::flush;
}

int sweep(std::span<const std::int64_t> sizes,
          const std::function<RunOutcome(std::int64_t batch)>& run,
          const std::function<bool()>& interrupted, const RunStreams& streams) {
  std::vector<SweptRun> runs;
  int status = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    streams.err << stderr_line::batch << sizes[i] << ", run " << i + 1 << " of " << sizes.size()
                << "\n"
                << std::flush;
    try {
      runs.push_back({.batch = sizes[i], .outcome = run(sizes[i])});
    } catch (...) {
      if (!runs.empty()) {
        print_sweep(streams.out, runs);
      }
      throw;
    }
    const int own = runs.back().outcome.status;
    status = own != 0 ? own : status;
    if (interrupted()) {
      break;
    }
  }
  print_sweep(streams.out, runs);
  return status;
}

int run_sweep(const RunSettings& settings, const ParseResult& parsed, RunHost& host) {
  const std::vector<std::int64_t>& sizes = settings.workload.batch_request.sizes;
  for (const std::int64_t batch : sizes) {
    check_run(settings_of_run(settings, batch), host);
  }
  host.phases.clear();
  const int status = sweep(
      sizes,
      [&](std::int64_t batch) {
        return run_once({.settings = settings_of_run(settings, batch),
                         .parsed = parsed,
                         .choice = {.rule = std::string(name_of(BatchRequest::Rule::list))},
                         .begin = begin_now(host)},
                        host);
      },
      [&] { return host.interrupt.requested(); }, host.streams);
  return host.interrupt.requested() ? host.interrupt.exit_status() : status;
}

}  // namespace bench
