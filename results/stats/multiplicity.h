#pragma once

#include <span>
#include <vector>

namespace bench::results::stats {

/// Adjusted p values: rejecting those up to q keeps the share of false rejections at q (Benjamini
/// and Hochberg, 1995). In the given order.
std::vector<double> benjamini_hochberg(std::span<const double> p);

/// Adjusted p values: rejecting those up to alpha makes any false rejection at most that likely
/// (Holm, 1979). In the given order.
std::vector<double> holm(std::span<const double> p);

}  // namespace bench::results::stats
