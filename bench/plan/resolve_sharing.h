#pragma once

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

/// Works out how the towers share variables and gradients, and what is said about it: the settings'
/// device, towers and mode have to be known. On several GPUs whose sums every tower needs NCCL adds
/// them where it can be opened. Throws UsageError for NCCL where it cannot add.
void resolve_sharing(RunSettings& settings, const Flags& flags);

}  // namespace bench
