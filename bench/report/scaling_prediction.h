#pragma once

#include <span>
#include <vector>

namespace bench {

/// A part of the gradients that is added as one.
struct BucketTime {
  double bytes = 0;
  /// Seconds from the beginning of the forward pass until the bucket's gradients are final.
  double ready = 0;
};

/// A step without communication.
struct StepTiming {
  /// Seconds of the whole step, and of forward and backward.
  double step = 0;
  double computing = 0;
  std::vector<BucketTime> buckets;
};

/// How gradients are added between processes.
struct Fabric {
  /// Processes of a host, which add their gradients first, at this many bytes per second.
  int per_host = 1;
  double bytes_per_second_within = 0;
  double bytes_per_second = 0;
  /// Seconds for each host's message.
  double per_message = 0;
};

/// The seconds of a step of `processes` processes. A bucket's sum takes
///
///   max(2 (g-1)/g m / w, 2 (h-1)/h m / b + 2 (h-1) s)
///
/// for m bytes, g processes on each of h hosts, w and b bytes per second within and between hosts,
/// and s seconds per message. Buckets follow each other, each when it is ready at the earliest. All
/// wait for the slowest process: with normally distributed times of 1 % deviation, the largest of p
/// takes about 1 % sqrt(2 ln p) longer.
double predicted_step(const StepTiming& timing, const Fabric& fabric, int processes);

}  // namespace bench
