#include "bench/runs/benchmark.h"

#include "bench/after/verify_command.h"
#include "bench/flags/batch_request.h"
#include "bench/runs/batch_choice.h"
#include "bench/runs/output_check.h"
#include "bench/runs/sweep.h"

namespace bench {
namespace {

int run_what_is_asked(const ParseResult& parsed, RunHost& host) {
  if (parsed.flags.verify) {
    const int status = run_verification(parsed, host.streams.out, &host.phases);
    if (status != 0) {
      host.streams.err
          << "bench: --verify: a network computes something else than it should, or could "
             "not be checked; the table says which\n";
    }
    return status;
  }
  const BatchRequest request = read_batch_request(parsed.flags.batch_size);
  if (request.rule == BatchRequest::Rule::list) {
    return run_sweep(parsed, request.sizes, host);
  }
  check_outputs(parsed.flags);
  if (request.fixed()) {
    return run_once({.parsed = parsed,
                     .choice = {.rule = std::string(name_of(request.rule))},
                     .begin = begin_at_launch(host)},
                    host)
        .status;
  }
  const ChosenBatch chosen = request.rule == BatchRequest::Rule::fastest
                                 ? choose_fastest_batch(parsed, host)
                                 : choose_largest_batch(parsed, host);
  host.phases.stop_if_asked("before the run");
  return run_once({.parsed = with_batch(parsed, chosen.batch),
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
