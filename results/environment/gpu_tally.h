#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/environment/clock.h"
#include "results/environment/gpu_sensors.h"
#include "results/record/gpu.h"

namespace bench {

/// The energy counter advances about every 0.1 s; over less time than this, its error exceeds 4 %.
inline constexpr std::chrono::seconds kLeastEnergyWindow{5};

/// Collects the values of a card's sensors between two moments. Used by one thread at a time.
class GpuTally {
 public:
  /// Both must outlive this.
  GpuTally(const GpuSensors& sensors, const Clock& clock) : sensors_(sensors), clock_(clock) {}

  /// Reads the counters and takes the first sample.
  void begin();
  void sample();
  /// Reads the counters again.
  void end();

  /// Call it after end().
  [[nodiscard]] results::GpuWatched result() const;

 private:
  /// One value of the samples.
  class Column {
   public:
    void add(const Captured<double>& value);
    [[nodiscard]] Captured<results::Spread> spread() const;

   private:
    std::vector<double> values_;
    std::string why_;
  };

  void look_for_others();
  [[nodiscard]] Captured<double> joules() const;

  const GpuSensors& sensors_;
  const Clock& clock_;
  std::chrono::nanoseconds began_{};
  std::chrono::nanoseconds ended_{};
  GpuCounters before_;
  GpuCounters after_;
  std::int64_t samples_ = 0;
  Column sm_mhz_;
  Column watts_;
  Column celsius_;
  Column utilization_;
  results::ClockEvents events_;
  std::string why_no_events_;
  std::optional<std::int64_t> most_others_;
  std::string why_no_count_;
  std::vector<results::GpuProcess> others_;
  std::string why_no_others_;
};

}  // namespace bench
