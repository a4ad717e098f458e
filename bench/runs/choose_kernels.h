#pragma once

#include "bench/plan/device.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/settings.h"
#include "bench/runs/checkpointing.h"
#include "bench/runs/run_host.h"
#include "kernels/runtime/choices.h"
#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {

/// Keeps the kernels of the checkpoint, if there is one, or times kernels if requested. Stores the
/// outcome in the settings. `checkpoints` may be null.
void choose_kernels(RunSettings& settings, const Graph& graph, Device& device,
                    const MemoryLimits& limits, Checkpointing* checkpoints, RunHost& host);

/// Makes a plan with the choices of a file; errors name the file.
template <class Make>
auto naming_choices(const RunSettings& settings, const Make& make) {
  try {
    return make();
  } catch (const ChoicesError& error) {
    if (!settings.execution.choices_file) {
      throw;
    }
    throw UsageError(fmt::format("--choices_file={}: {}",
                                 printable(*settings.execution.choices_file), error.what()));
  }
}

}  // namespace bench
