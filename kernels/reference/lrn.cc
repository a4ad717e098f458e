#include "models/ops/lrn.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/operations.h"

namespace bench::reference {
namespace {

/// The sum of term(j) over the channels j at most `radius` away from `c`.
template <class Term>
Eigen::ArrayXd sum_around(std::int64_t c, std::int64_t channels, std::int64_t radius,
                          const Term& term) {
  const std::int64_t first = std::max<std::int64_t>(0, c - radius);
  const std::int64_t last = std::min(channels - 1, c + radius);
  Eigen::ArrayXd sum = term(first);
  for (std::int64_t j = first + 1; j <= last; ++j) {
    sum += term(j);
  }
  return sum;
}

/// bias + alpha * s of channel `c` of image `n`.
Eigen::ArrayXd divisor(const LrnAttributes& attributes, const Tensor& x, std::int64_t n,
                       std::int64_t c) {
  return attributes.bias + attributes.alpha * sum_around(c, x.shape[1], attributes.radius,
                                                         [&](std::int64_t j) -> Eigen::ArrayXd {
                                                           return x.plane(n, j).square();
                                                         });
}

}  // namespace

Operation lrn(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew& crew) {
    const Tensor& x = in[0];
    for_each_plane(x.shape, crew, [&](std::int64_t n, std::int64_t c) {
      out[0].plane(n, c) = x.plane(n, c) * divisor(attributes, x, n, c).pow(-attributes.beta);
    });
  }};
}

/// With the divisor d: dx_c = dy_c d_c^-beta - 2 alpha beta x_c sum over the channels i near c of
/// dy_i x_i d_i^(-beta-1).
Operation lrn_backward(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew& crew) {
    const Tensor& dy = in[0];
    const Tensor& x = in[1];
    for_each_plane(x.shape, crew, [&](std::int64_t n, std::int64_t c) {
      const Eigen::ArrayXd through_divisors =
          sum_around(c, x.shape[1], attributes.radius, [&](std::int64_t i) -> Eigen::ArrayXd {
            return dy.plane(n, i) * x.plane(n, i) *
                   divisor(attributes, x, n, i).pow(-attributes.beta - 1);
          });
      out[0].plane(n, c) =
          dy.plane(n, c) * divisor(attributes, x, n, c).pow(-attributes.beta) -
          2 * attributes.alpha * attributes.beta * x.plane(n, c) * through_divisors;
    });
  }};
}

}  // namespace bench::reference
