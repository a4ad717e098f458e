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
/// - the cross-entropy of the matched anchors and of the background anchors with the largest
///   cross-entropies; ties go to the lower index. 3 of these count per matched anchor, or all if
///   there are fewer. If there are fewer, tf_cnn_benchmarks also counts matched anchors twice.
///
/// An example without matched anchors has a loss of 0.
/// The loss is the mean over N. doffsets and dscores are its derivatives with the same choice.
extern const OpDef kMultiboxLoss;
/// (doffsets[N,A,4], dscores[N,A,C], dloss scalar) -> both, times dloss.
extern const OpDef kMultiboxLossBackward;

/// The background anchors that count for each matched one.
inline constexpr std::int64_t kBackgroundPerMatched = 3;

}  // namespace bench
