#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// kCtcLoss of models/ops/ctc_loss.h.
struct CtcLoss {
  std::int64_t frames = 0;                     ///< T
  std::int64_t examples = 0;                   ///< N
  std::int64_t classes = 0;                    ///< C
  std::int64_t labels_stride = 0;              ///< L
  const float* logits = nullptr;               ///< [T,N,C]
  const std::int32_t* labels = nullptr;        ///< [N,L]
  const std::int32_t* label_counts = nullptr;  ///< [N]
  const std::int32_t* frame_counts = nullptr;  ///< [N]
  float* dlogits = nullptr;                    ///< [T,N,C]
  void* workspace = nullptr;                   ///< ctc_workspace_bytes
};
std::size_t ctc_workspace_bytes(const CtcLoss& args, int threads);
/// Returns the loss and writes dlogits, in logarithms of f64; the result does not depend on the
/// number of threads. Throws DataError for a count outside its axis, or for a label that is not a
/// class before the blank. Waits.
double ctc_loss(ThreadTeam& team, const CtcLoss& args);

}  // namespace bench::cpu
