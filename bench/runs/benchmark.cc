#include "bench/runs/benchmark.h"

#include <glog/logging.h>
#include <unistd.h>

#include <iostream>
#include <thread>

#include "bench/plan/evaluation_settings.h"
#include "bench/plan/resolve_settings.h"
#include "bench/report/record_file.h"
#include "bench/report/reportable.h"
#include "bench/runs/batch_choice.h"
#include "bench/runs/child_runs.h"
#include "bench/runs/output_check.h"
#include "bench/runs/repeats.h"
#include "bench/runs/roles.h"
#include "bench/runs/scaling.h"
#include "bench/runs/serve.h"
#include "bench/runs/start_processes.h"
#include "bench/runs/sweep.h"
#include "bench/runs/verify_command.h"
#include "bench/terminal/logging.h"
#include "bench/terminal/null_buffer.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/record/build_info.h"
#include "variable_mgmt/servers/server_link.h"

namespace bench {
namespace {

/// Refuses a run that cannot be reportable, before anything is measured.
void refuse_unfit(const RecordSettings& settings) {
  std::string reasons;
  for (const std::string& reason :
       violations_before(results::source_info(), results::build_info(), settings)) {
    if (!reasons.empty()) {
      reasons += "; ";
    }
    reasons += reason;
  }
  if (!reasons.empty()) {
    throw UsageError(
        fmt::format("--reportable: the result would be unfit to publish: {}", reasons));
  }
}

void check_repeats(const RunSettings& settings) {
  if (settings.outputs.dump.any() || settings.outputs.files.dump_tensors) {
    throw UsageError(
        "--repeats and --until_ci repeat a run, but --dump and --dump_tensors do not make one: "
        "remove one of these flags");
  }
  if (settings.workload.batch_request.rule == BatchRequest::Rule::list) {
    throw UsageError("--repeats and --until_ci repeat one batch size: give one in --batch_size");
  }
  check_outputs(settings);
  check_kept(settings.outputs);
}

/// Waits until there is a newer checkpoint to evaluate. Throws RunEnded.
void wait_for_checkpoint(RunSettings& settings, const Flags& flags, RunHost& host) {
  constexpr std::chrono::milliseconds kGlance{50};
  const std::string last = *settings.workload.init_from;
  while (*settings.workload.init_from == last) {
    const auto end = host.clock.now() + std::chrono::seconds(settings.evaluation.interval_seconds);
    while (host.clock.now() < end) {
      host.phases.stop_if_asked("while it waited for a new checkpoint");
      std::this_thread::sleep_for(kGlance);
    }
    settings.workload.init_from = checkpoint_to_evaluate(flags);
  }
}

int run_what_is_asked(const ParseResult& parsed, RunHost& host) {
  World& world = *host.world.world;
  check_equal_builds(world);
  check_equal_flags(world, parsed);
  const Roles roles = agreed(world, [&] {
    check_number_of_processes(parsed.flags, world.size());
    return roles_of(parsed.flags, world.size());
  });
  check_built_in_world(world, parsed);
  if (parsed.flags.verify) {
    const int status = run_verification(parsed, host);
    if (status != 0) {
      host.streams.err
          << "bench: --verify: a network does not match the reference, or could not be checked; "
             "the table shows which\n";
    }
    return status;
  }
  const bool serves = world.rank() >= roles.workers;
  std::optional<Device> server_device;
  RunSettings settings = agreed(world, [&] {
    RunSettings resolved = resolve_settings(parsed, {.process = serves ? 0 : world.rank(),
                                                     .processes = roles.workers,
                                                     .servers = roles.servers});
    settle_in_world(resolved, world);
    if (serves) {
      server_device = make_server_device(resolved);
    }
    return settings_of_scaled(settings_of_repeat(std::move(resolved)));
  });
  world.set_workers(roles.workers);
  if (serves) {
    return serve(settings, *server_device->backend, world);
  }
  share_gpus(settings, parsed.flags, world);
  if (!settings.outputs.record.device_counts.empty()) {
    return run_scaling(settings, parsed, host);
  }
  if (settings.outputs.record.reportable) {
    refuse_unfit(settings.outputs.record);
  }
  if (settings.outputs.record.repeats.asked() && !settings.outputs.record.own_repeat) {
    check_repeats(settings);
    return run_repeats(settings, host);
  }
  const BatchRequest& request = settings.workload.batch_request;
  if (request.rule == BatchRequest::Rule::list) {
    return run_sweep(settings, parsed, host);
  }
  agreed(world, [&] {
    check_outputs(settings);
    return true;
  });
  if (roles.workers > 1 && settings.workload.training() && roles.servers == 0) {
    host.world.link = measure_link(world, [&] { return host.clock.now(); });
  }
  if (request.fixed()) {
    RunBegin begin = begin_at_launch(host);
    for (;;) {
      const int status = run_once({.settings = settings,
                                   .parsed = parsed,
                                   .choice = {.rule = std::string(name_of(request.rule))},
                                   .begin = begin},
                                  host)
                             .status;
      if (status != 0 || settings.evaluation.interval_seconds == 0) {
        return status;
      }
      wait_for_checkpoint(settings, parsed.flags, host);
      begin = begin_now(host);
    }
  }
  const ChosenBatch chosen = request.rule == BatchRequest::Rule::fastest
                                 ? choose_fastest_batch(settings, host)
                                 : choose_largest_batch(settings, host);
  host.phases.stop_if_asked("before the run");
  const RunOutcome run = run_once({.settings = with_batch(settings, chosen.batch),
                                   .parsed = parsed,
                                   .choice = chosen.choice,
                                   .begin = begin_now(host)},
                                  host);
  if (run.status == 0) {
    note_slower_than_trial(chosen, run.session.steps, host.streams.err);
  }
  return run.status;
}

/// Ends this process of several, once the others know why.
[[noreturn]] void end_after_failure(World& world, const std::exception& error) {
  const std::string reason = error.what();
  // All ranks may throw an error of rank 0, which already names it.
  world.fail(reason.starts_with(world.name(0)) && world.rank() != 0
                 ? reason
                 : fmt::format("{}: {}", world.name(world.rank()), reason));
  world.wait_for_end();
  if (world.rank() != 0 && !world.has_lost(0)) {
    // When a process fails, the launcher ends all others. Rank 0 may still write the record, so let
    // it be the first. If this process still exists afterwards, rank 0 does not.
    std::this_thread::sleep_for(std::chrono::seconds(4));
  }
  std::cerr << "bench: " << printable(world.failure()) << std::endl;
  std::cout << std::flush;
  _exit(exit_status_of(error));
}

/// Ends a process whose world refuses the command line. Every rank has thrown the refusal. Rank 0
/// prints it before it leaves: when another rank has ended, the launcher may end rank 0.
int refuse(World& world, const WorldRefusal& refusal, std::ostream& err) {
  if (world.rank() == 0) {
    err << "bench: " << printable(refusal.what()) << "\n";
  }
  const int status = exit_status_of(refusal);
  end_servers(world, status);
  world.leave(status);
  if (!world.failure().empty()) {
    _exit(status);
  }
  return status;
}

/// Leaves the world, after which the process exits with this status. Returns the status.
int leave(RunHost& host, int status) {
  World& world = *host.world.world;
  end_servers(world, status);
  world.leave(status);
  if (!host.world.several()) {
    return status;
  }
  // The first process that exits may make the launcher end the others.
  host.interrupt.ignore_further();
  if (!world.failure().empty()) {
    host.streams.out.flush();
    constexpr int kFailed = 1;
    _exit(status == 0 ? kFailed : status);
  }
  return status;
}

int run_and_report(const ParseResult& parsed, RunHost& host) {
  World& world = *host.world.world;
  try {
    const int status = run_what_is_asked(parsed, host);
    if (!host.streams.out.flush()) {
      throw WriteError("standard output cannot be written");
    }
    if (!host.world.several()) {  // Otherwise the process still waits for the others.
      host.interrupt.ignore_further();
    }
    // The signal came after the last point at which the run could end.
    return status == 0 && host.interrupt.requested() ? host.interrupt.exit_status() : status;
  } catch (const RunEnded& ended) {
    if (host.world.several()) {
      world.fail(
          fmt::format("{}: {} {}", world.name(world.rank()), host.end_reason(), ended.what()));
    }
    return host.end(ended);
  } catch (const WorldRefusal& refusal) {
    return refuse(world, refusal, host.streams.err);
  }
}

}  // namespace

int exit_status_of(const std::exception& error) {
  constexpr int kFailed = 1;
  constexpr int kUsage = 2;
  constexpr int kWriteFailed = 74;  // EX_IOERR of sysexits.h
  if (dynamic_cast<const WriteError*>(&error) != nullptr) {
    return kWriteFailed;
  }
  const bool usage = dynamic_cast<const UsageError*>(&error) != nullptr ||
                     dynamic_cast<const DataError*>(&error) != nullptr;
  return usage ? kUsage : kFailed;
}

int refuse_command_line(const UsageError& error, std::ostream& err) {
  if (!is_launched()) {
    throw error;
  }
  const RunWorld joined = join_world();
  if (joined.world->size() == 1) {
    throw error;
  }
  try {
    refuse_together(*joined.world, error.what());
  } catch (const WorldRefusal& refusal) {
    return refuse(*joined.world, refusal, err);
  }
  throw error;
}

int run_benchmark(const ParseResult& parsed, const std::vector<std::string>& command_line,
                  const RunStreams& streams) {
  end_with_parent();
  if (const std::optional<int> status = start_processes(parsed.flags, command_line)) {
    return *status;
  }
  RunWorld joined = starts_launchers(parsed.flags) ? alone() : join_world();
  World& world = *joined.world;
  try {
    refuse_together(world, "");
    share_hosts(joined);
  } catch (const WorldRefusal& refusal) {
    return refuse(world, refusal, streams.err);
  } catch (const std::exception& error) {
    end_after_failure(world, error);
  }
  NullBuffer nothing;
  std::ostream nowhere(&nothing);
  const RunStreams used = joined.prints() ? streams : RunStreams{.out = nowhere, .err = nowhere};
  if (!joined.prints()) {
    silence_notes();
  } else if (joined.several()) {
    LOG(INFO) << fmt::format("note: {} processes, connected by {}", world.size(), world.library());
    for (const std::string& warning : joined.warnings) {
      LOG(WARNING) << "warning: " << printable(warning);
    }
  }
  RunHost host(used, command_line, SystemFiles(), std::move(joined));
  try {
    return leave(host, run_and_report(parsed, host));
  } catch (const std::exception& error) {
    if (!host.world.several()) {
      throw;
    }
    host.interrupt.ignore_further();  // The launcher interrupts the processes that are left.
    end_after_failure(world, error);
  }
}

}  // namespace bench
