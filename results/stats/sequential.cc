#include "results/stats/sequential.h"

#include <algorithm>

#include "results/stats/group_summary.h"

namespace bench::results::stats {

std::optional<std::size_t> next_look(std::size_t n) {
  const auto* const next = std::upper_bound(kLooks.begin(), kLooks.end(), n);
  if (next == kLooks.end()) return std::nullopt;
  return *next;
}

std::optional<double> look_half_width(std::span<const double> values, double alpha) {
  if (values.empty()) return std::nullopt;
  return group_summary(values, alpha / static_cast<double>(kLooks.size())).half;
}

}  // namespace bench::results::stats
