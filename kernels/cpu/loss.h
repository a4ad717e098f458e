#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/thread_team.h"
#include "models/ops/loss.h"

namespace bench::cpu {

/// The kernels of models/ops/loss.h on dense logits[rows][classes] and labels[rows]. They wait.

/// Returns weight times the mean over rows of the cross-entropy with the smoothed target, stable
/// for logits of any size, and writes the probabilities. Throws DataError for a label outside
/// 0..classes-1. `probabilities` may be `logits`.
struct SoftmaxCrossEntropy {
  SoftmaxCrossEntropyAttributes attributes = {};
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const float* logits = nullptr;
  const std::int32_t* labels = nullptr;
  float* probabilities = nullptr;
};
double softmax_cross_entropy(ThreadTeam& team, const SoftmaxCrossEntropy& args);

/// Writes the probabilities of one row, which may be the logits, and returns its cross-entropy; on
/// the calling thread. The label must be one of the classes.
double softmax_cross_entropy_of_row(const float* logits, std::int64_t classes, std::int32_t label,
                                    float* probabilities);

/// dlogits = weight * (probabilities - target) * dloss / rows. May be in place. Labels as above.
struct SoftmaxCrossEntropyBackward {
  SoftmaxCrossEntropyAttributes attributes = {};
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const float* probabilities = nullptr;
  const std::int32_t* labels = nullptr;
  double dloss = 1;
  float* dlogits = nullptr;
};
void softmax_cross_entropy_backward(ThreadTeam& team, const SoftmaxCrossEntropyBackward& args);

/// Returns the share of rows where fewer than k classes have a strictly larger logit than the
/// label's. Labels as above.
struct TopKAccuracy {
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const float* logits = nullptr;
  const std::int32_t* labels = nullptr;
  std::int64_t k = 1;
};
double top_k_accuracy(ThreadTeam& team, const TopKAccuracy& args);

/// Returns the sum of squares of all elements of all tensors: f32 partial sums of some hundred
/// elements, added in double.
double sum_of_squares(ThreadTeam& team, std::span<const std::span<const float>> tensors);

/// The same for one tensor, by this thread.
double sum_of_squares(std::span<const float> tensor);

}  // namespace bench::cpu
