#pragma once

#include "kernels/arguments.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// Waits.
void join_rows(ThreadTeam& team, const JoinRows& args);

}  // namespace bench::cpu
