#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

struct SoftmaxCrossEntropyAttributes {
  /// The target is (1 - label_smoothing) * onehot(label) + label_smoothing / C; Szegedy et al.,
  /// arXiv:1512.00567.
  double label_smoothing = 0;
  /// Multiplies the loss.
  double weight = 1;
  bool operator==(const SoftmaxCrossEntropyAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const SoftmaxCrossEntropyAttributes& attributes);

/// (logits[N,C], labels s32[N]) -> (loss scalar, probabilities[N,C]); weight times the mean over N
/// of -sum over C of target * log softmax(logits).
extern const OpDef kSoftmaxCrossEntropy;
/// (probabilities[N,C], labels s32[N], dloss scalar) -> dlogits = weight * (p - target) * dloss /
/// N; the attributes are the forward's.
extern const OpDef kSoftmaxCrossEntropyBackward;

struct L2LossAttributes {
  double coefficient = 4e-5;
  bool operator==(const L2LossAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const L2LossAttributes& attributes);

/// (w...) -> scalar: coefficient * sum over all inputs of sum(w^2) / 2.
extern const OpDef kL2Loss;
/// (w, dloss scalar) -> dw = coefficient * dloss * w.
extern const OpDef kL2LossBackward;

struct TopKAttributes {
  std::int64_t k = 1;
  bool operator==(const TopKAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const TopKAttributes& attributes);

/// (logits[N,C], labels s32[N]) -> scalar: the share of rows where fewer than k classes have a
/// strictly larger logit than the label's; one that is not finite is a miss.
extern const OpDef kTopKAccuracy;

}  // namespace bench
