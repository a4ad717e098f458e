#pragma once

#include <memory>
#include <span>
#include <vector>

#include "results/environment/gpu_watch.h"

namespace bench {

/// Watches several cards over the same time.
class GpuWatches final : public TimedWatch {
 public:
  /// Cards with null sensors are not watched. Sensors and clock must outlive this.
  GpuWatches(std::span<const std::unique_ptr<GpuSensors>> sensors, const Clock& clock);

  void begin() override;
  void end() override;

  /// Adds the results to the cards, in the order of the sensors; leaves unwatched cards unchanged.
  /// Call it after end().
  void add_to(std::span<results::Gpu> gpus) const;

 private:
  std::vector<std::unique_ptr<GpuWatch>> watches_;
};

}  // namespace bench
