#pragma once

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

/// Works out how the towers share variables and gradients, and what is said about it: the settings'
/// device, towers and mode have to be known. On several GPUs whose sums every tower needs NCCL adds
/// them where it can be opened. Throws UsageError for NCCL where it cannot add, for algorithms that
/// so many towers of one host do not have, and for gradients that are to be sent in 16 bits.
void resolve_sharing(RunSettings& settings, const ParseResult& parsed);

/// Whether sum or mean joins the gradients, and the learning rate that is as of their mean; empty
/// where nothing is joined. The batch has to be known.
std::string joined_gradients_notice(const RunSettings& settings);

/// In which type of 16 bits gradients are sent; empty where they are not. The type that the run
/// computes in has to be settled.
std::string compact_gradients_notice(const RunSettings& settings);

}  // namespace bench
