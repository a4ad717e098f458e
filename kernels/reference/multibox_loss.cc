#include "models/ops/multibox_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/reference/operations.h"
#include "models/base/errors.h"

namespace bench::reference {
namespace {

double huber(double error) {
  return std::abs(error) <= 1 ? error * error / 2 : std::abs(error) - 0.5;
}

/// One example of the batch.
struct Example {
  Example(std::span<const Tensor> in, std::int64_t place)
      : n(place), anchors(in[0].shape[1]), classes(static_cast<std::size_t>(anchors)) {
    const std::int64_t bound = in[1].shape[2];
    for (std::int64_t a = 0; a < anchors; ++a) {
      const auto number = static_cast<std::int64_t>(in[3][n * anchors + a]);
      check(number >= 0 && number < bound,
            fmt::format("multibox_loss: class {} is outside 0 to {}", number, bound - 1));
      classes[static_cast<std::size_t>(a)] = number;
      matched += number > 0 ? 1 : 0;
    }
  }
  [[nodiscard]] std::int64_t class_of(std::int64_t anchor) const {
    return classes[static_cast<std::size_t>(anchor)];
  }

  std::int64_t n;
  std::int64_t anchors;
  std::vector<std::int64_t> classes;
  std::int64_t matched = 0;
};

/// Writes the derivative for each anchor as if all counted; returns the cross-entropies.
std::vector<double> cross_entropies(std::span<const Tensor> in, const Example& example,
                                    const Tensor& dscores) {
  std::vector<double> result;
  for (std::int64_t a = 0; a < example.anchors; ++a) {
    const Array scores = in[1].plane(example.n, a);
    const double largest = scores.maxCoeff();
    const double log_sum = largest + std::log((scores - largest).exp().sum());
    const std::int64_t label = example.class_of(a);
    Array derivative = dscores.plane(example.n, a);
    derivative = (scores - log_sum).exp();
    derivative[label] -= 1;
    result.push_back(log_sum - scores[label]);
  }
  return result;
}

/// The background anchors that do not count.
std::vector<std::int64_t> easy_anchors(const Example& example, const std::vector<double>& losses) {
  std::vector<std::int64_t> background;
  for (std::int64_t a = 0; a < example.anchors; ++a) {
    if (example.class_of(a) == 0) {
      background.push_back(a);
    }
  }
  // NaN is the largest, so that the order is complete.
  const auto size_of = [&](std::int64_t a) {
    const double loss = losses[static_cast<std::size_t>(a)];
    return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
  };
  std::ranges::stable_sort(background,
                           [&](std::int64_t a, std::int64_t b) { return size_of(a) > size_of(b); });
  const std::int64_t hard =
      std::min<std::int64_t>(std::ssize(background), kBackgroundPerMatched * example.matched);
  background.erase(background.begin(), background.begin() + hard);
  return background;
}

/// Writes an example's derivatives, not yet divided by N, and returns its loss.
double compute(std::span<const Tensor> in, std::span<const Tensor> out, const Example& example) {
  const auto matched = static_cast<double>(std::max<std::int64_t>(example.matched, 1));
  std::vector<double> losses = cross_entropies(in, example, out[2]);
  for (const std::int64_t anchor : easy_anchors(example, losses)) {
    losses[static_cast<std::size_t>(anchor)] = 0;
    out[2].plane(example.n, anchor) = 0;
  }
  double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
  for (std::int64_t a = 0; a < example.anchors; ++a) {
    out[2].plane(example.n, a) /= matched;
    Array derivative = out[1].plane(example.n, a);
    derivative = 0;
    if (example.class_of(a) > 0) {
      const Eigen::ArrayXd error = in[0].plane(example.n, a) - in[2].plane(example.n, a);
      sum += error.unaryExpr(&huber).sum();
      derivative = error.cwiseMax(-1).cwiseMin(1) / matched;
    }
  }
  return sum / matched;
}

}  // namespace

Operation multibox_loss(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    const std::int64_t examples = in[0].shape[0];
    double sum = 0;
    for (std::int64_t n = 0; n < examples; ++n) {
      sum += compute(in, out, Example(in, n));
    }
    out[0][0] = sum / static_cast<double>(examples);
    out[1].array() /= static_cast<double>(examples);
    out[2].array() /= static_cast<double>(examples);
  }};
}

Operation multibox_loss_backward(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    out[0].array() = in[2][0] * in[0].array();
    out[1].array() = in[2][0] * in[1].array();
  }};
}

}  // namespace bench::reference
