#include "bench/runs/benchmark.h"

#include "bench/plan/resolve_settings.h"
#include "bench/runs/batch_choice.h"
#include "bench/runs/output_check.h"
#include "bench/runs/sweep.h"
#include "bench/runs/verify_command.h"

namespace bench {
namespace {

int run_what_is_asked(const ParseResult& parsed, RunHost& host) {
  if (parsed.flags.verify) {
    const int status = run_verification(parsed, host);
    if (status != 0) {
      host.streams.err
          << "bench: --verify: a network computes something else than it should, or could "
             "not be checked; the table says which\n";
    }
    return status;
  }
  const RunSettings settings = resolve_settings(parsed);
  const BatchRequest& request = settings.batch_request;
  if (request.rule == BatchRequest::Rule::list) {
    return run_sweep(settings, parsed, host);
  }
  check_outputs(settings);
  if (request.fixed()) {
    return run_once({.settings = settings,
                     .parsed = parsed,
                     .choice = {.rule = std::string(name_of(request.rule))},
                     .begin = begin_at_launch(host)},
                    host)
        .status;
  }
  const ChosenBatch chosen = request.rule == BatchRequest::Rule::fastest
                                 ? choose_fastest_batch(settings, host)
                                 : choose_largest_batch(settings, host);
  host.phases.stop_if_asked("before the run");
  return run_once({.settings = with_batch(settings, chosen.batch),
                   .parsed = parsed,
                   .choice = chosen.choice,
                   .begin = begin_now(host)},
                  host)
      .status;
}

}  // namespace

int run_benchmark(const ParseResult& parsed, const std::vector<std::string>& command_line,
                  const RunStreams& streams) {
  RunHost host(streams, command_line);
  try {
    const int status = run_what_is_asked(parsed, host);
    // A signal that came after the last point at which the run could end.
    return status == 0 && host.interrupt.requested() ? host.interrupt.exit_status() : status;
  } catch (const RunEnded& ended) {
    return host.end(ended);
  }
}

}  // namespace bench
