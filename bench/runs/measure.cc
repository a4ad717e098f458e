#include "bench/runs/measure.h"

#include "bench/after/build_record.h"
#include "bench/host/machine.h"

namespace bench {

Measured measure(Begun& begun, Prepared& prepared, RunHost& host) {
  StoppingRule stopping(step_limits(begun.settings), host.clock, [&] { return host.end_asked(); });
  Measured measured;
  measured.attempt.at([&] {
    run_session(begun.settings,
                {.tower = *prepared.tower,
                 .strategy = prepared.strategy.get(),
                 .input = *prepared.input,
                 .clock = host.clock,
                 .stopping = stopping,
                 .out = host.streams.out,
                 .progress = host.streams.err,
                 .progress_terminal = host.streams.err_terminal},
                measured.session);
  });
  measured.input = prepared.input->statistics();
  if (begun.begin.peak_is_own) {
    measured.peak_rss = peak_rss_bytes(host.files);
  } else {
    measured.peak_rss = Unknown{"the system does not let it begin anew after what ran before"};
  }
  add_measurements(begun.file.record(), begun.settings,
                   {.session = measured.session,
                    .memory = begun.memory,
                    .input = measured.input,
                    .setup = measured.session.first_step_at - begun.begin.at,
                    .peak_rss = measured.peak_rss,
                    .times_before = begun.before.times},
                   host.files);
  return measured;
}

}  // namespace bench
