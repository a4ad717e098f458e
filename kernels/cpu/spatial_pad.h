#pragma once

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"
#include "models/ops/spatial_pad.h"

namespace bench::cpu {

/// kSpatialPad of models/ops/spatial_pad.h. y has x's kind of view and must not overlap x. Waits.
struct SpatialPad {
  /// The view of x; spatial is height * width.
  ChannelView view;
  std::int64_t height = 0;
  std::int64_t width = 0;
  SpatialPadAttributes pad;
  /// The type of x and y: any.
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
};
void spatial_pad(ThreadTeam& team, const SpatialPad& args);

}  // namespace bench::cpu
