#include "results/stats/sequential.h"

#include <algorithm>

#include "results/stats/group_summary.h"

namespace bench::results::stats {

std::optional<std::size_t> last_look(std::size_t n) {
  const auto* const next = std::upper_bound(kLooks.begin(), kLooks.end(), n);
  if (next == kLooks.begin()) return std::nullopt;
  return *(next - 1);
}

std::optional<double> look_half_width(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return group_summary(values, kLookAlpha).half;
}

}  // namespace bench::results::stats
