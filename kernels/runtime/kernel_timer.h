#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "kernels/backend.h"

namespace bench {

/// Measures how long a device takes for work.
class KernelTimer {
 public:
  KernelTimer() = default;
  KernelTimer(const KernelTimer&) = delete;
  KernelTimer& operator=(const KernelTimer&) = delete;
  virtual ~KernelTimer() = default;
  /// The device's seconds for the work that `enqueue` adds to the stream, after its earlier work;
  /// waits. Throws DeviceError if the work failed.
  virtual double seconds(Stream& stream, const std::function<void()>& enqueue) = 0;
};

/// Uses events of the backend: a GPU's clock, or the host's clock if the host computes. The backend
/// must outlive it.
std::unique_ptr<KernelTimer> make_event_timer(Backend& backend);

/// When samples of a time agree, and the maximum number of samples if they do not.
struct SamplingRule {
  std::size_t alike = 3;
  /// The allowed excess of the longest over the shortest of those, relative to the shortest.
  double within = 0.05;
  std::size_t most = 10;
};

/// Samples a time until the last few samples agree, and returns their median. If they never do,
/// returns the median of all. The first sample is a warm-up and is skipped.
double settled_seconds(const std::function<double()>& sample, const SamplingRule& rule = {});

}  // namespace bench
