#include "bench/runs/choose_kernels.h"

#include <glog/logging.h>

#include "bench/plan/tuning.h"
#include "kernels/cpu/library_variables.h"

namespace bench {

void choose_kernels(RunSettings& settings, const Graph& graph, Device& device,
                    const MemoryLimits& limits, Checkpointing* checkpoints, RunHost& host) {
  const TuningKey identity = tuning_identity(device, host.files);
  if (checkpoints != nullptr) {
    const std::string notice =
        checkpoints->keep_choices(tuning_key(settings, graph, identity), settings);
    if (!notice.empty()) {
      LOG(INFO) << "note: " << printable(notice);
    }
  }
  if (settings.execution.autotune == Autotune::off || settings.execution.choices != nullptr) {
    return;
  }
  const auto begin = host.clock.now();
  const auto timer = make_event_timer(*device.backend);
  const TuningCache cache(tuning_folder(own_environment));
  TuningResult tuned = tune({.settings = settings,
                             .graph = graph,
                             .backend = *device.backend,
                             .timer = *timer,
                             .cache = cache,
                             .identity = identity,
                             .limits = limits,
                             .watch = host.phases.of("timing kernels", "kernel")});
  host.phases.clear();
  for (const std::string& notice : tuned.notices) {
    LOG(INFO) << "note: " << printable(notice);
  }
  if (tuned.kept) {
    LOG(INFO) << "note: the kernels were chosen by the times of an earlier run";
  } else if (tuned.counts.timed > 0) {
    const std::chrono::duration<double> taken = host.clock.now() - begin;
    LOG(INFO) << fmt::format("note: {} kernels were timed in {:.1f} s, to choose between them",
                             tuned.counts.timed, taken.count());
  }
  settings.execution.chosen_by = tuned.kept               ? ChosenBy::kept
                                 : tuned.counts.timed > 0 ? ChosenBy::timed
                                                          : ChosenBy::estimates;
  settings.execution.choices = std::make_shared<ChoicesFile>(
      ChoicesFile{.choices = std::move(tuned.choices), .made_for = flags_of_choices(settings)});
}

}  // namespace bench
