#pragma once

#include "bench/settings.h"

namespace bench {

/// Settles --use_fp16 on the faster of bf16 and f16: measures where the device computes in both,
/// and notes the choice. Throws UsageError when the device cannot compute in the type asked for.
void settle_precision(RunSettings& settings, Backend& backend);

}  // namespace bench
