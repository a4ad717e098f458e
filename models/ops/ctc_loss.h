#pragma once

#include "models/ir/op.h"

namespace bench {

/// Connectionist temporal classification: Graves et al., "Connectionist Temporal Classification",
/// ICML 2006. The last class is the blank.
///
/// (logits[T,N,C], labels s32[N,L], label_counts s32[N], frames s32[N]) -> (loss scalar,
/// dlogits[T,N,C]). The loss is the mean over N of -log of the probability that the first frames[n]
/// frames spell the first label_counts[n] labels; dlogits is its derivative, which is 0 in the
/// other frames. If the frames are too few for the labels, the loss is infinite and the derivative
/// in these frames is NaN, as in PyTorch.
extern const OpDef kCtcLoss;
/// (dlogits[T,N,C], dloss scalar) -> dlogits * dloss.
extern const OpDef kCtcLossBackward;

}  // namespace bench
