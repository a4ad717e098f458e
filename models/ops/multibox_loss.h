#pragma once

#include "models/ir/op.h"

namespace bench {

/// The loss of Liu et al., "SSD: Single Shot MultiBox Detector", arXiv:1512.02325.
///
/// (offsets[N,A,4], scores[N,A,C], target_offsets[N,A,4], classes s32[N,A]) -> (loss scalar,
/// doffsets[N,A,4], dscores[N,A,C]). An anchor of class 0 is background, the others are matched.
///
/// An example's loss is the sum of two parts, divided by the number of matched anchors (at least
/// 1):
///
/// - the Huber loss, with delta 1, of offsets - target_offsets of the matched anchors;
/// - the cross-entropy of the matched anchors and of the hardest background anchors. These have the
///   largest cross-entropies, and the first come first if some are equal. There are 3 for each
///   matched anchor, or all. With all, tf_cnn_benchmarks counts the matched anchors twice.
/// The loss is the mean over N. doffsets and dscores are its derivatives with the same choice.
extern const OpDef kMultiboxLoss;
/// (doffsets[N,A,4], dscores[N,A,C], dloss scalar) -> both, times dloss.
extern const OpDef kMultiboxLossBackward;

/// The background anchors that count for each matched one.
inline constexpr std::int64_t kBackgroundPerMatched = 3;

}  // namespace bench
