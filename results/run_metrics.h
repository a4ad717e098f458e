#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/captured.h"
#include "results/record.h"

namespace bench::results {

/// A region of planned memory.
struct PlannedRegion {
  std::string name{};  ///< variables, gradients, activations, ...
  std::int64_t bytes = 0;
};

/// What a run measured, from which its metrics are computed.
struct RunMeasurements {
  std::int64_t images_per_step = 0;                   ///< Of all devices together.
  std::span<const std::chrono::nanoseconds> steps{};  ///< Every completed step since warm-up.
  /// The same by the device's own clock.
  Captured<std::span<const std::chrono::nanoseconds>> device_steps{};
  std::chrono::nanoseconds wall{};  ///< From the end of warm-up to the end of the last step.
  Captured<std::chrono::nanoseconds> input_wait{};  ///< Within `wall`, waiting for a batch.
  Captured<std::chrono::nanoseconds> setup{};       ///< From launch to the start of the first step.
  Captured<std::int64_t> peak_rss_bytes{};
  Captured<double> watts{};  ///< Mean, within `wall`, by the counters of energy of what computed.
  std::vector<PlannedRegion> planned{};
  Captured<double> loss_first{};
  Captured<double> loss_last{};
  Captured<double> top1{};  ///< Mean over the timed steps, 0 to 1.
  Captured<double> top5{};
};

/// Images per second over wall time: the number printed as `total images/sec`. Unknown when no step
/// was completed.
Captured<double> images_per_second(const RunMeasurements& run);

/// Share of wall time spent waiting for input, 0 to 1.
Captured<double> input_wait_share(const RunMeasurements& run);

/// Share of the steps' time from a step's beginning to its end on the device, gaps included, by its
/// own clock.
Captured<double> device_span_share(const RunMeasurements& run);

/// All metrics of a run, defined one by one in results/README.md. What could not be measured is
/// there too, as an unknown value with its reason.
std::vector<Metric> run_metrics(const RunMeasurements& run);

}  // namespace bench::results
