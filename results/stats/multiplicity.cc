#include "results/stats/multiplicity.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace bench::results::stats {
namespace {

std::vector<std::size_t> smallest_first(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  return order;
}

}  // namespace

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const std::vector<std::size_t> order = smallest_first(p);
  std::vector<double> adjusted(p.size());
  double least = 1;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const std::size_t at = order[rank - 1];
    least = std::min(least, p[at] * static_cast<double>(p.size()) / static_cast<double>(rank));
    adjusted[at] = least;
  }
  return adjusted;
}

std::vector<double> holm(std::span<const double> p) {
  const std::vector<std::size_t> order = smallest_first(p);
  std::vector<double> adjusted(p.size());
  double most = 0;
  for (std::size_t rank = 0; rank < p.size(); ++rank) {
    const std::size_t at = order[rank];
    most = std::max(most, std::min(1.0, p[at] * static_cast<double>(p.size() - rank)));
    adjusted[at] = most;
  }
  return adjusted;
}

}  // namespace bench::results::stats
