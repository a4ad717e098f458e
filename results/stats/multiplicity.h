#pragma once

#include <span>
#include <vector>

namespace bench::results::stats {

/// p values adjusted so that rejecting those up to q keeps the share of false rejections at q
/// (Benjamini and Hochberg, 1995), in the order given.
std::vector<double> benjamini_hochberg(std::span<const double> p);

/// p values adjusted so that rejecting those up to alpha makes any false rejection at all at most
/// that likely (Holm, 1979), in the order given.
std::vector<double> holm(std::span<const double> p);

}  // namespace bench::results::stats
