#pragma once

#include <optional>
#include <span>

namespace bench::results::stats {

/// The standard deviation of a series from one run to the next: 1.4826 median |y(i) - y(i-1)| /
/// sqrt(2). Single steps and slow drift do not affect it. Empty below three values.
std::optional<double> noise_floor(std::span<const double> series);

}  // namespace bench::results::stats
