#pragma once

#include <cstdint>

#include "kernels/cpu/thread_team.h"
#include "models/ops/dropout.h"

namespace bench::cpu {

/// kDropout and kDropoutBackward of models/ops/dropout.h on `count` elements in canonical order:
/// y = x / keep where (seed, stream, step, index) keep the element, else 0. y may be x. The same
/// elements for every team size. Waits.
struct Dropout {
  DropoutAttributes attributes;
  std::int32_t step = 0;
  std::int64_t count = 0;
  const float* x = nullptr;
  float* y = nullptr;
};
void dropout(ThreadTeam& team, const Dropout& args);

}  // namespace bench::cpu
