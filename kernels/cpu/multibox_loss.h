#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// kMultiboxLoss of models/ops/multibox_loss.h.
struct MultiboxLoss {
  std::int64_t examples = 0;              ///< N
  std::int64_t anchors = 0;               ///< A
  std::int64_t score_count = 0;           ///< C
  const float* offsets = nullptr;         ///< [N,A,4]
  const float* scores = nullptr;          ///< [N,A,C]
  const float* target_offsets = nullptr;  ///< [N,A,4]
  const std::int32_t* classes = nullptr;  ///< [N,A]
  float* doffsets = nullptr;              ///< [N,A,4]
  float* dscores = nullptr;               ///< [N,A,C]
  void* workspace = nullptr;              ///< multibox_workspace_bytes
};
std::size_t multibox_workspace_bytes(const MultiboxLoss& args);
/// Returns the loss and writes the derivatives; the result does not depend on the number of
/// threads. Throws DataError for a class that has no score. Waits.
double multibox_loss(ThreadTeam& team, const MultiboxLoss& args);

}  // namespace bench::cpu
