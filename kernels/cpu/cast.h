#pragma once

#include "kernels/arguments.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// Between f32, bf16 and f16; throws InternalError for other types. What is too large becomes
/// infinite, a NaN stays one. Waits.
void cast(ThreadTeam& team, const Cast& args);
/// Runs only on the calling thread, for a kernel's few values.
void cast(const Cast& args);

}  // namespace bench::cpu
