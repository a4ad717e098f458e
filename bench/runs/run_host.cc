#include <utility>

#include "bench/host/machine.h"
#include "bench/host/process_age.h"
#include "bench/plan/watched_backend.h"
#include "bench/runs/run_host.h"
#include "models/base/errors.h"

namespace bench {

RunHost::RunHost(const RunStreams& run_streams, std::vector<std::string> arguments,
                 SystemFiles system_files)
    : streams(run_streams),
      command_line(std::move(arguments)),
      files(std::move(system_files)),
      interrupt({.before_notice = streams.err_terminal.rewrites ? kEraseLine : ""}),
      phases(streams.err, clock, streams.err_terminal, [this] { return end_asked(); }) {}

std::string RunHost::end_reason() const {
  return interrupt.requested() ? cat("ended by ", interrupt.signal_name())
                               : "standard output cannot be written";
}

int RunHost::end(const RunEnded& ended) {
  phases.clear();
  if (!interrupt.requested()) {
    throw WriteError(end_reason());
  }
  streams.err << end_reason() << " " << ended.what() << "\n";
  return interrupt.exit_status();
}

Device& RunHost::device(RunSettings& settings) {
  if (!device_) {
    device_.emplace(make_device(settings));
    device_->backend = watch_planning(std::move(device_->backend), phases);
    precision_ = choose_precision(settings, *device_->backend);
  }
  precision_.apply(settings);
  return *device_;
}

RunBegin begin_at_launch(const RunHost& host) {
  return {.at = host.clock.now() - process_age(host.files).value_or(std::chrono::nanoseconds(0))};
}

RunBegin begin_now(const RunHost& host) {
  return {.at = host.clock.now(), .peak_is_own = reset_peak_rss()};
}

}  // namespace bench
