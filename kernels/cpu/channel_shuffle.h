#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// kChannelShuffle of models/ops/channel_shuffle.h. y overlaps x nowhere. Waits.
struct ChannelShuffle {
  ChannelView view;
  /// shuffle_sources of the view.
  std::span<const std::int32_t> sources;
  /// Of x and y: any type.
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
};
void channel_shuffle(ThreadTeam& team, const ChannelShuffle& args);

/// For each channel of y, padded ones included: where within a sample of x the channel begins that
/// it is a copy of, in elements. Throws InternalError for a sample of 2^31 elements.
std::vector<std::int32_t> shuffle_sources(const ChannelView& view, std::int64_t groups);

}  // namespace bench::cpu
