#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "kernels/backend.h"

namespace bench {

/// Says how long a device takes for work.
class KernelTimer {
 public:
  KernelTimer() = default;
  KernelTimer(const KernelTimer&) = delete;
  KernelTimer& operator=(const KernelTimer&) = delete;
  virtual ~KernelTimer() = default;
  /// The device's seconds for what `enqueue` enqueues on the stream, behind what is there already;
  /// waits. Throws DeviceError when the work failed.
  virtual double seconds(Stream& stream, const std::function<void()>& enqueue) = 0;
};

/// By events of the backend: the device's own clock on a GPU, the host's where the host computes.
/// The backend has to outlive it.
std::unique_ptr<KernelTimer> make_event_timer(Backend& backend);

/// When samples of a time agree, and how many are taken where they do not.
struct SamplingRule {
  std::size_t alike = 3;
  /// Of the shortest of those: how much longer the longest may be.
  double within = 0.05;
  std::size_t most = 10;
};

/// A time that is sampled until the last few samples agree, whose median it is; where they never
/// do, the median of all. The first sample is for warming up and left out.
double settled_seconds(const std::function<double()>& sample, const SamplingRule& rule = {});

}  // namespace bench
