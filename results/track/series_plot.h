#pragma once

#include <string>

#include "results/track/tracking.h"

namespace bench::results {

/// A series over time as a <figure>: every night as a dot, each level as a line in the band of its
/// noise, a line at each change with how large it is, a mark at each annotation, a ring around a
/// newest night that is odd. `id` must be unlike all others of the page.
std::string series_plot(const TrackedSeries& tracked, const std::string& id);

}  // namespace bench::results
