#pragma once

#include "kernels/arguments.h"
#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

using SpatialPad = bench::SpatialPad<ChannelView>;
/// Waits.
void spatial_pad(ThreadTeam& team, const SpatialPad& args);

}  // namespace bench::cpu
