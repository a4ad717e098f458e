#pragma once

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

/// Resolves how towers share variables and gradients, and adds the notices about it. Device, towers
/// and mode must already be set. On several GPUs whose sums every tower needs, NCCL adds them if it
/// can be opened. Throws UsageError for three reasons: NCCL cannot add; this number of towers does
/// not support an algorithm; gradients cannot be sent in 16 bits.
void resolve_sharing(RunSettings& settings, const ParseResult& parsed);

/// Says if gradients are summed or averaged, and gives the equivalent learning rate for their mean;
/// empty without a reduction. Requires the batch.
std::string joined_gradients_notice(const RunSettings& settings);

/// Names the 16-bit type in which gradients are sent; empty if they are not. Requires the resolved
/// type of the run.
std::string compact_gradients_notice(const Workload& workload);

}  // namespace bench
