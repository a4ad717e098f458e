#pragma once

#include <string>

#include "results/track/tracking.h"

namespace bench::results {

/// A series over time as a <figure>: every run as a dot, and each level as a line in the band of
/// its noise. Each change has a line with its size, each annotation a mark, and an odd newest run a
/// ring. `id` must be unique on the page.
std::string series_plot(const TrackedSeries& tracked, const std::string& id);

}  // namespace bench::results
