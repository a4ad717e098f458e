#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "variable_mgmt/world/world.h"

namespace bench {

/// The time in which each worker sends messages to another one, all at the same time:
///
///   latency + (n - 1) per_message + bytes / bytes_per_second
///
/// for n messages. All values are the slowest worker's.
struct Link {
  double latency = 0;      ///< Seconds.
  double per_message = 0;  ///< Seconds.
  double bytes_per_second = 0;
  /// How far this misses the time of a size between those that define it, as a share of that time.
  double error = 0;
};

struct TimedSize {
  double bytes = 0;
  double seconds = 0;
};

/// The link without times per message: the line through two sizes, checked with a third one.
Link fit_link(const TimedSize& small, const TimedSize& large, const TimedSize& between);

/// Calls `fit` until a fit misses by less than 20 %, at most three times. Returns the best one.
/// Other work can disturb a fit.
Link steady_fit(const std::function<Link()>& fit);

/// Measures the link to a worker of another host, if there is one. Sends less over a slow link.
/// Waits for all workers, which must call it together. Throws Cancelled. There must be at least
/// two.
Link measure_link(World& world, const std::function<std::chrono::nanoseconds()>& now);

}  // namespace bench
