#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// kChannelShuffle of models/ops/channel_shuffle.h. y must not overlap x. Waits.
struct ChannelShuffle {
  ChannelView view;
  /// The result of shuffle_sources for the view.
  std::span<const std::int32_t> sources;
  /// The type of x and y: any.
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
};
void channel_shuffle(ThreadTeam& team, const ChannelShuffle& args);

/// For each channel of y, padded ones included: the offset of its source channel within a sample of
/// x, in elements. Throws InternalError for a sample of 2^31 elements.
std::vector<std::int32_t> shuffle_sources(const ChannelView& view, std::int64_t groups);

}  // namespace bench::cpu
