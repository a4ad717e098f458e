#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bench::results {

/// `values` as a line of blocks, the lowest for the least and the full one for the largest, at most
/// `width` of them: where there are more values, a block shows the largest of its share, so that no
/// outlier is lost. Empty for no values.
std::string sparkline(std::span<const double> values, std::size_t width = 60);

}  // namespace bench::results
