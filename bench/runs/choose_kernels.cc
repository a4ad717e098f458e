#include "bench/runs/choose_kernels.h"

#include <glog/logging.h>

#include "bench/plan/tuning.h"
#include "kernels/cpu/library_variables.h"

namespace bench {
namespace {

/// Lets the run compute with the kernels of its checkpoint. Returns why not, if it cannot.
std::string keep_choices(RunSettings& settings, const Graph& graph, Device& device,
                         const MemoryLimits& limits, const Checkpointing::StoredChoices& stored) {
  Execution& execution = settings.execution;
  if (execution.choices_file) {
    return !stored.choices || *stored.choices == execution.choices->choices
               ? stored.why_not
               : "they come from --choices_file";
  }
  if (!stored.choices) {
    return stored.why_not;
  }
  std::string why = why_unusable(settings, graph, *device.backend, limits, *stored.choices);
  if (why.empty()) {
    execution.choices = std::make_shared<ChoicesFile>(
        ChoicesFile{.choices = *stored.choices, .made_for = flags_of_choices(settings)});
    execution.chosen_by = ChosenBy::checkpoint;
  }
  return why;
}

}  // namespace

void choose_kernels(RunSettings& settings, const Graph& graph, Device& device,
                    const MemoryLimits& limits, Checkpointing* checkpoints, RunHost& host) {
  const TuningKey identity = tuning_identity(device, host.files);
  if (checkpoints != nullptr) {
    const auto stored = checkpoints->stored_choices(tuning_key(settings, graph, identity));
    if (const std::string why = keep_choices(settings, graph, device, limits, stored);
        !why.empty()) {
      checkpoints->note_other_choices(why);
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
  if (tuned.by == ChosenBy::kept) {
    LOG(INFO) << "note: the kernels were chosen from timings of an earlier run";
  } else if (tuned.by == ChosenBy::timed) {
    const std::chrono::duration<double> taken = host.clock.now() - begin;
    LOG(INFO) << fmt::format("note: {} kernels were timed in {:.1f} s to choose between them",
                             tuned.counts.timed, taken.count());
  }
  settings.execution.chosen_by = tuned.by;
  settings.execution.choices = std::make_shared<ChoicesFile>(
      ChoicesFile{.choices = std::move(tuned.choices), .made_for = flags_of_choices(settings)});
}

}  // namespace bench
