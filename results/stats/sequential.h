#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace bench::results::stats {

/// The numbers of runs at which a repeated measurement may stop. Looking at fixed places only, each
/// with a quarter of alpha, keeps the interval's confidence in spite of the looks.
inline constexpr std::array<std::size_t, 4> kLooks = {8, 12, 16, 24};

/// The last of the looks that `n` runs have reached; none before the first.
std::optional<std::size_t> last_look(std::size_t n);

/// The share of 5 % that each of the looks has.
inline constexpr double kLookAlpha = 0.05 / kLooks.size();

/// Half the length of the median's interval at level kLookAlpha, relative to the median: what
/// `--until_ci` holds against its limit at a look. None where there is no such interval (below 8).
std::optional<double> look_half_width(std::span<const double> values);

}  // namespace bench::results::stats
