#include <cmath>

#include "kernels/reference/operations.h"
#include "models/base/errors.h"
#include "models/ops/loss.h"

namespace bench::reference {
namespace {

std::int64_t label_of(const Tensor& labels, std::int64_t row, std::int64_t classes) {
  const auto label = static_cast<std::int64_t>(labels[row]);
  check(label >= 0 && label < classes,
        fmt::format("label {} of row {} is outside the {} classes", label, row, classes));
  return label;
}

}  // namespace

Operation softmax_cross_entropy(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<SoftmaxCrossEntropyAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew&) {
    const auto logits = in[0].matrix();
    auto probabilities = out[1].matrix();
    const double smoothing = attributes.label_smoothing;
    double sum = 0;
    for (std::int64_t row = 0; row < logits.rows(); ++row) {
      // The largest logit is taken off first, so that no exponential overflows.
      const double largest = logits.row(row).maxCoeff();
      probabilities.row(row) = (logits.row(row).array() - largest).exp();
      const double total = probabilities.row(row).sum();
      probabilities.row(row) /= total;
      double aimed_at = logits(row, label_of(in[1], row, logits.cols())) - largest;
      // Without smoothing, a logit of minus infinity only affects rows that have its label.
      if (smoothing != 0) {
        aimed_at =
            (1 - smoothing) * aimed_at + smoothing * (logits.row(row).array() - largest).mean();
      }
      sum += std::log(total) - aimed_at;
    }
    out[0][0] = attributes.weight * sum / static_cast<double>(logits.rows());
  }};
}

Operation softmax_cross_entropy_backward(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<SoftmaxCrossEntropyAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew&) {
    const auto probabilities = in[0].matrix();
    auto dlogits = out[0].matrix();
    const double scale = attributes.weight * in[2][0] / static_cast<double>(dlogits.rows());
    const double of_all = attributes.label_smoothing / static_cast<double>(probabilities.cols());
    const double of_label = 1 - attributes.label_smoothing + of_all;
    dlogits = (probabilities.array() - of_all) * scale;
    for (std::int64_t row = 0; row < probabilities.rows(); ++row) {
      const std::int64_t label = label_of(in[1], row, probabilities.cols());
      dlogits(row, label) = (probabilities(row, label) - of_label) * scale;
    }
  }};
}

Operation l2_loss(const Graph&, const Node& node) {
  const double coefficient = node.attributes.as<L2LossAttributes>().coefficient;
  return {.compute = [coefficient](std::span<const Tensor> in, std::span<const Tensor> out,
                                   const Crew&) {
    double sum = 0;
    for (const Tensor& w : in) {
      sum += w.array().square().sum();
    }
    out[0][0] = coefficient * sum / 2;
  }};
}

Operation l2_loss_backward(const Graph&, const Node& node) {
  const double coefficient = node.attributes.as<L2LossAttributes>().coefficient;
  return {.compute = [coefficient](std::span<const Tensor> in, std::span<const Tensor> out,
                                   const Crew&) {
    out[0].array() = coefficient * in[1][0] * in[0].array();
  }};
}

Operation top_k_accuracy(const Graph&, const Node& node) {
  const std::int64_t k = node.attributes.as<TopKAttributes>().k;
  return {.compute = [k](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    const auto logits = in[0].matrix();
    std::int64_t hits = 0;
    for (std::int64_t row = 0; row < logits.rows(); ++row) {
      const double own = logits(row, label_of(in[1], row, logits.cols()));
      hits += std::isfinite(own) && (logits.row(row).array() > own).count() < k ? 1 : 0;
    }
    out[0][0] = static_cast<double>(hits) / static_cast<double>(logits.rows());
  }};
}

}  // namespace bench::reference
