#pragma once

#include "bench/plan/settings.h"

namespace bench {

/// Throws UsageError if a run cannot write one of its outputs. Also throws it if an output is a
/// file that the run reads, the file that receives its lines, or another output. The spelling of
/// paths does not matter. Tensors must not go to stdout. Leaves every file unchanged.
void check_outputs(const RunSettings& settings);

}  // namespace bench
