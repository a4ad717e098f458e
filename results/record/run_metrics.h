#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/record/captured.h"
#include "results/record/record.h"

namespace bench::results {

/// A region of planned memory.
struct PlannedRegion {
  std::string name{};  ///< variables, gradients, activations, ...
  std::int64_t bytes = 0;
};

/// The measurements of a run, from which its metrics are computed.
struct RunMeasurements {
  std::string unit = "images";                        ///< What the speed counts, in the plural.
  std::int64_t units_per_step = 0;                    ///< Sum over all devices.
  std::span<const std::chrono::nanoseconds> steps{};  ///< Every completed step since warm-up.
  /// The same steps by the device's clock.
  Captured<std::span<const std::chrono::nanoseconds>> device_steps{};
  std::chrono::nanoseconds wall{};  ///< From the end of warm-up to the end of the last step.
  Captured<std::chrono::nanoseconds> input_wait{};  ///< Waiting for a batch, within `wall`.
  Captured<std::chrono::nanoseconds> setup{};       ///< From launch to the start of the first step.
  Captured<std::int64_t> peak_rss_bytes{};
  Captured<double> watts{};  ///< Mean power within `wall`, from the energy counters of the devices
                             ///< that computed.
  std::vector<PlannedRegion> planned{};
  Captured<double> loss_first{};
  Captured<double> loss_last{};
  Captured<double> top1{};  ///< Mean over the timed steps, 0 to 1.
  Captured<double> top5{};
};

/// Units per second over wall time: the number printed as `total images/sec` or `total tokens/sec`.
/// Unknown if no step was completed.
Captured<double> units_per_second(const RunMeasurements& run);

/// Share of wall time spent waiting for input, 0 to 1.
Captured<double> input_wait_share(const RunMeasurements& run);

/// Share of the steps' time from a step's beginning to its end by the device's clock, including
/// gaps.
Captured<double> device_span_share(const RunMeasurements& run);

/// All metrics of a run, as metrics.inc defines them. A metric that could not be measured is
/// an unknown value with its reason.
std::vector<Metric> run_metrics(const RunMeasurements& run);

}  // namespace bench::results
