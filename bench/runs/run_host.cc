#include "bench/runs/run_host.h"

#include <utility>

#include "bench/plan/watched_backend.h"
#include "bench/terminal/stderr_lines.h"
#include "kernels/cpu/affinity.h"
#include "models/base/errors.h"
#include "results/environment/machine.h"
#include "results/environment/process_age.h"

namespace bench {

RunHost::RunHost(const RunStreams& run_streams, std::vector<std::string> arguments,
                 SystemFiles system_files, RunWorld run_world)
    : streams(run_streams),
      command_line(std::move(arguments)),
      processors(cpu::allowed_processors()),
      files(std::move(system_files)),
      interrupt({.before_notice = streams.err_terminal.rewrites ? kEraseLine : ""}),
      phases(streams.err, clock, streams.err_terminal, [this] { return end_asked(); }),
      world(std::move(run_world)) {}

std::string RunHost::end_reason() const {
  if (interrupt.requested()) {
    return fmt::format("{}{}", stderr_line::ended, interrupt.signal_name());
  }
  return streams.out.good() ? fmt::format("{}a signal to another process", stderr_line::ended)
                            : "standard output cannot be written";
}

int RunHost::end(const RunEnded& ended) {
  phases.clear();
  if (!interrupt.requested() && !streams.out.good()) {
    throw WriteError(end_reason());
  }
  streams.err << end_reason() << " " << ended.what() << "\n";
  constexpr int kTerminated = 143;
  return interrupt.requested() ? interrupt.exit_status() : kTerminated;
}

RunHost::~RunHost() {
  if (tower_threads_) {
    drop_backends(devices_, *tower_threads_);
  }
}

std::span<Device> RunHost::devices(RunSettings& settings) {
  if (devices_.empty()) {
    tower_threads_.emplace(settings.workload.towers);
    devices_ = make_devices(settings, *tower_threads_);
    devices_.front().backend = watch_planning(std::move(devices_.front().backend), phases);
    precision_ = choose_precision(settings.workload, *devices_.front().backend);
  } else if (settings.workload.earlier_half) {
    // The devices may have been made before the checkpoint was opened, to choose the batch.
    precision_ = choose_precision(settings.workload, *devices_.front().backend);
  }
  precision_.apply(settings);
  return devices_;
}

Watch RunHost::input_watch(const Model& model) {
  return model.reads_images() ? phases.of("drawing the images", "row")
                              : phases.of("drawing the input", std::string(model.example()));
}

RunBegin begin_at_launch(const RunHost& host) {
  return {.at = host.clock.now() - process_age(host.files).value_or(std::chrono::nanoseconds(0))};
}

RunBegin begin_now(const RunHost& host) {
  return {.at = host.clock.now(), .peak_is_own = reset_peak_rss()};
}

}  // namespace bench
