#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bench/host/gpu_watch.h"

namespace bench {

/// Watches several cards over the same time.
class GpuWatches final : public TimedWatch {
 public:
  /// A card whose sensors are null is not watched. Sensors and clock must outlive this.
  GpuWatches(std::span<const std::unique_ptr<GpuSensors>> sensors, const Clock& clock);

  void begin() override;
  void end() override;

  /// After end(): what each of the cards went through, in the order of the sensors; those that were
  /// not watched keep what they say.
  void add_to(std::span<results::Gpu> gpus) const;

 private:
  std::vector<std::unique_ptr<GpuWatch>> watches_;
};

}  // namespace bench
