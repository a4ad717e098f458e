#pragma once

#include <optional>
#include <span>

namespace bench::results::stats {

/// The standard deviation of a series from night to night: 1.4826 median |y(i) - y(i-1)| / sqrt(2),
/// which single steps and slow drift do not move. None below three values.
std::optional<double> noise_floor(std::span<const double> series);

}  // namespace bench::results::stats
