#include "bench/runs/measure.h"

#include <glog/logging.h>

#include <optional>

#include "bench/after/build_record.h"
#include "bench/host/gpu_verdict.h"
#include "bench/host/gpu_watch.h"
#include "bench/host/machine.h"

namespace bench {
namespace {

/// Adds the verdict, and prints the warnings that come with it.
void judge(results::Record& record) {
  results::Quality& quality = record.quality;
  const std::size_t printed = quality.warnings.size();
  judge_gpus(record.gpus, quality);
  for (std::size_t i = printed; i < quality.warnings.size(); ++i) {
    LOG(WARNING) << "warning: " << quality.warnings[i];
  }
}

}  // namespace

Measured measure(Begun& begun, Prepared& prepared, RunHost& host) {
  StoppingRule stopping(step_limits(begun.settings), host.clock, [&] { return host.end_asked(); });
  std::optional<GpuWatch> watch;
  if (prepared.sensors != nullptr) {
    watch.emplace(*prepared.sensors, host.clock);
  }
  Measured measured;
  measured.attempt.at([&] {
    run_session(begun.settings,
                {.towers = *prepared.towers,
                 .input = *prepared.input,
                 .clock = host.clock,
                 .stopping = stopping,
                 .out = host.streams.out,
                 .progress = host.streams.err,
                 .progress_terminal = host.streams.err_terminal,
                 .watch = watch ? &*watch : nullptr},
                measured.session);
  });
  results::Record& record = begun.file.record();
  if (watch) {
    watch->end();
    record.gpus.front().watched = watch->result();
  }
  measured.input = prepared.input->statistics();
  if (begun.begin.peak_is_own) {
    measured.peak_rss = peak_rss_bytes(host.files);
  } else {
    measured.peak_rss = Unknown{"the system does not let it begin anew after what ran before"};
  }
  add_measurements(record, begun.settings,
                   {.session = measured.session,
                    .memory = begun.memory,
                    .input = measured.input,
                    .setup = measured.session.first_step_at - begun.begin.at,
                    .peak_rss = measured.peak_rss,
                    .times_before = begun.before.times},
                   host.files);
  judge(record);
  return measured;
}

}  // namespace bench
