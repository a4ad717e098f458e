#include "bench/benchmark.h"

#include <ostream>

#include "bench/batch_choice.h"
#include "bench/batch_request.h"
#include "bench/sweep.h"
#include "bench/verify_command.h"

namespace bench {

int run_benchmark(const ParseResult& parsed, const std::vector<std::string>& command_line,
                  const RunStreams& streams) {
  if (parsed.flags.verify) {
    return run_verification(parsed, streams.out);
  }
  RunHost host(streams, command_line);
  const BatchRequest request = read_batch_request(parsed.flags.batch_size);
  if (request.rule == BatchRequest::Rule::list) {
    return run_sweep(parsed, request.sizes, host);
  }
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
  if (host.interrupt.requested()) {
    streams.err << "ended by " << host.interrupt.signal_name() << " before the run\n";
    return host.interrupt.exit_status();
  }
  return run_once({.parsed = with_batch(parsed, chosen.batch),
                   .choice = chosen.choice,
                   .begin = begin_now(host)},
                  host)
      .status;
}

}  // namespace bench
