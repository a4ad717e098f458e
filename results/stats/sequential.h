#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace bench::results::stats {

/// The numbers of runs at which a repeated measurement may stop. It stops only at these places,
/// each with a quarter of alpha, so that the looks do not reduce the interval's confidence.
inline constexpr std::array<std::size_t, 4> kLooks = {8, 12, 16, 24};

/// The last look that `n` runs have reached; empty before the first.
std::optional<std::size_t> last_look(std::size_t n);

/// The share of 5 % that each of the looks has.
inline constexpr double kLookAlpha = 0.05 / kLooks.size();

/// Half the length of the median's interval at level kLookAlpha, relative to the median.
/// `--until_ci` compares it with its limit at a look. Empty if the interval does not exist (below 8
/// values).
std::optional<double> look_half_width(std::span<const double> values);

}  // namespace bench::results::stats
