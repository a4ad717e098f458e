#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "variable_mgmt/world/world.h"

namespace bench {

/// The time in which each worker sends a message to another one, all at the same time. It is
/// modelled as a straight line in the message's size. All values are the slowest worker's.
struct Link {
  /// Seconds for an empty message.
  double latency = 0;
  /// Additional seconds for each further empty message at the same time.
  double per_message = 0;
  double bytes_per_second = 0;
  /// How far the line misses the time of a size between those that define it, as a share of that
  /// time.
  double error = 0;
};

/// The line through the times of two sizes, in seconds and bytes, checked with a third one.
Link fit_link(std::size_t small, double small_time, std::size_t large, double large_time,
              std::size_t between, double between_time);

/// Measures the link: each worker sends to the one half of the ranks further, which is usually on
/// another host. Takes about a second. Waits for all workers, which must call it together. Throws
/// Cancelled. There must be at least two.
Link measure_link(World& world, const std::function<std::chrono::nanoseconds()>& now);

}  // namespace bench
