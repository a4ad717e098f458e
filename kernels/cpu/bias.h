#pragma once

#include "kernels/arguments.h"
#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

using BiasAdd = bench::BiasAdd<ChannelView>;
using BiasBackward = bench::BiasBackward<ChannelView>;

/// For f32, bf16 and f16.
void bias_add(ThreadTeam& team, const BiasAdd& args);

/// The same types; sums in double. The workspace has channel_workspace_bytes (batch_norm.h).
void bias_backward(ThreadTeam& team, const BiasBackward& args);

}  // namespace bench::cpu
