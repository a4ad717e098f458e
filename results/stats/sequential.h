#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace bench::results::stats {

/// The numbers of runs at which a repeated measurement may stop. Looking at fixed places only, each
/// with a fifth of alpha, keeps the interval's confidence in spite of the looks.
inline constexpr std::array<std::size_t, 5> kLooks = {6, 8, 12, 16, 24};

/// The next of the looks after `n` runs; none after the last.
std::optional<std::size_t> next_look(std::size_t n);

/// Half the length of the median's interval at level alpha / 5, relative to the median: what
/// `--until_ci` holds against its limit at a look. None where there is no such interval (6 runs).
std::optional<double> look_half_width(std::span<const double> values, double alpha = 0.05);

}  // namespace bench::results::stats
