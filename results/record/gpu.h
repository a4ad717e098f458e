#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/captured.h"

/// A GPU in the record of a run: the card, and its sensors while the steps were timed.
/// machine_fields.inc defines every number.
namespace bench::results {

/// Clocks of the card's parts, in MHz.
struct GpuClocks {
  Captured<int> sm{};
  Captured<int> memory{};
  Captured<int> graphics{};
};

struct GpuLink {
  Captured<int> generation{};
  Captured<int> width{};  ///< Lanes.
  Captured<int> generation_max{};
  Captured<int> width_max{};
};

/// Another program on the card.
struct GpuProcess {
  std::int64_t pid = 0;
  Captured<std::int64_t> memory{};  ///< Bytes of the card's memory.
};

/// A reason for which the driver lowers the clocks, as a bit of its mask.
struct ClockEvent {
  std::string_view name{};
  std::uint64_t bit = 0;
};
namespace clock_event {
inline constexpr std::uint64_t kIdle = 0x1;
inline constexpr std::uint64_t kApplicationClocks = 0x2;
inline constexpr std::uint64_t kPowerCap = 0x4;
inline constexpr std::uint64_t kHardwareSlowdown = 0x8;
inline constexpr std::uint64_t kSyncBoost = 0x10;
inline constexpr std::uint64_t kSoftwareThermal = 0x20;
inline constexpr std::uint64_t kHardwareThermal = 0x40;
inline constexpr std::uint64_t kPowerBrake = 0x80;
inline constexpr std::uint64_t kDisplay = 0x100;
}  // namespace clock_event
inline constexpr std::array<ClockEvent, 9> kClockEvents{{
    {.name = "idle", .bit = clock_event::kIdle},
    {.name = "applications_clocks_setting", .bit = clock_event::kApplicationClocks},
    {.name = "sw_power_cap", .bit = clock_event::kPowerCap},
    {.name = "hw_slowdown", .bit = clock_event::kHardwareSlowdown},
    {.name = "sync_boost", .bit = clock_event::kSyncBoost},
    {.name = "sw_thermal_slowdown", .bit = clock_event::kSoftwareThermal},
    {.name = "hw_thermal_slowdown", .bit = clock_event::kHardwareThermal},
    {.name = "hw_power_brake_slowdown", .bit = clock_event::kPowerBrake},
    {.name = "display_clock_setting", .bit = clock_event::kDisplay},
}};

/// What held the clocks down, as one mask of bits per sample.
struct ClockEvents {
  std::vector<std::uint64_t> samples{};

  /// All bits that were seen.
  [[nodiscard]] std::uint64_t seen() const;
  /// Share of the samples that have one of these bits and none of `without`, 0 to 1.
  [[nodiscard]] double share(std::uint64_t bits, std::uint64_t without = 0) const;
};

struct Spread {
  double mean = 0;
  double min = 0;
  double max = 0;
};

/// Readings while the steps were timed.
struct GpuWatched {
  std::chrono::nanoseconds window{};  ///< From the first to the last reading.
  std::int64_t samples = 0;
  Captured<Spread> sm_mhz{};
  Captured<Spread> watts{};
  Captured<Spread> celsius{};
  Captured<Spread> utilization{};  ///< 0 to 1.
  Captured<ClockEvents> clock_events{};
  /// Time for which power and heat held the clocks down, as the card counts it.
  Captured<std::chrono::nanoseconds> power_violation{};
  Captured<std::chrono::nanoseconds> thermal_violation{};
  Captured<double> joules{};  ///< From the card's counter.
  Captured<std::int64_t> ecc_corrected{};
  Captured<std::int64_t> ecc_uncorrected{};
  Captured<std::int64_t> others_count{};       ///< The most other programs at one time.
  Captured<std::vector<GpuProcess>> others{};  ///< All that were seen.
};

/// Mean power by the card's counter, in W.
Captured<double> counted_watts(const GpuWatched& watched);

struct Gpu {
  std::string name{};
  std::string compute_capability{};
  std::string pci_bus_id{};
  Captured<std::string> uuid{};
  Captured<std::string> driver{};
  Captured<std::string> nvml{};
  Captured<std::int64_t> memory_total{};  ///< Bytes.
  Captured<std::int64_t> memory_used{};   ///< Bytes, before the steps; this program's among them.
  Captured<bool> ecc{};                   ///< Error correction is on.
  Captured<bool> persistence{};
  Captured<bool> mig{};  ///< The card is split.
  GpuClocks clocks{};    ///< Before the steps.
  GpuClocks clocks_max{};
  Captured<double> power_limit_watts{};
  Captured<double> power_limit_default_watts{};
  Captured<double> celsius{};  ///< Before the steps.
  GpuLink pcie{};              ///< Before the steps.
  /// Clock measured by a kernel after the last step.
  Captured<double> counted_sm_mhz = Unknown{"no step was timed"};
  Captured<GpuWatched> watched = Unknown{"no step was timed"};
};

}  // namespace bench::results
