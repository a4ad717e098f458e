#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bench::results {

/// `values` as a line of at most `width` blocks, from the lowest for the least to the full block
/// for the largest. If there are more values, a block shows the largest of its share, so that
/// outliers remain visible. Empty without values.
std::string sparkline(std::span<const double> values, std::size_t width = 60);

}  // namespace bench::results
