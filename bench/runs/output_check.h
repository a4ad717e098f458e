#pragma once

#include "bench/plan/settings.h"

namespace bench {

/// Throws UsageError when something a run is to write cannot be written, is a file that it reads,
/// the file that its own lines go to, or twice the same, however the paths are spelled; and for
/// tensors that would go to standard output. Leaves every file as it is.
void check_outputs(const RunSettings& settings);

}  // namespace bench
