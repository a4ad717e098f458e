#pragma once

#include <cstdint>

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"
#include "models/ops/dropout.h"

namespace bench::cpu {

/// kDropout and kDropoutBackward of models/ops/dropout.h: y = x / keep if (seed, stream, step,
/// canonical index) keeps the element, else 0. For a negative step y = x. The same elements stay in
/// every view and for every team size; padded channels become zero. y may be x. Waits.
struct Dropout {
  DropoutAttributes attributes;
  std::int32_t step = 0;
  ChannelView view;
  /// f32, bf16 or f16, of x and y.
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
};
void dropout(ThreadTeam& team, const Dropout& args);

}  // namespace bench::cpu
