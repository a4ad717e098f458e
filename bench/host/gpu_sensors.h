#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/host/nvml.h"
#include "results/gpu.h"

namespace bench {

/// A card at one moment.
struct GpuSample {
  Captured<double> sm_mhz{};
  Captured<double> watts{};
  Captured<double> celsius{};
  Captured<double> utilization{};  ///< 0 to 1; in some of the time before, a kernel was there.
  Captured<std::uint64_t> clock_events{};
};

/// What a card counts since the driver was loaded.
struct GpuCounters {
  Captured<double> joules{};
  Captured<std::chrono::nanoseconds> power_violation{};
  Captured<std::chrono::nanoseconds> thermal_violation{};
  Captured<std::int64_t> ecc_corrected{};
  Captured<std::int64_t> ecc_uncorrected{};
};

/// Programs that compute on a card, but for this one, which is taken to be among those that the
/// driver lists: it is asked while this one computes.
struct GpuOthers {
  Captured<std::int64_t> count{};
  /// Unknown where it lists ids of which this program cannot tell its own, in a namespace of
  /// processes (a container) whose ids are others than the driver's.
  Captured<std::vector<results::GpuProcess>> processes{};
};

/// The sensors of a card, read through the driver. Nothing throws for what it does not tell: the
/// value is then unknown, with the reason. May be used by several threads.
class GpuSensors {
 public:
  /// By its PCI bus, which no environment variable renumbers: "0000:0e:00.0".
  explicit GpuSensors(const std::string& pci_bus_id, const std::string& library = nvml::kLibrary);

  /// Why the card tells nothing; empty where it can be asked.
  [[nodiscard]] std::string why_not() const { return device_.why(); }

  /// Fills in everything but the name, the capability and what is watched.
  void describe(results::Gpu& gpu) const;
  [[nodiscard]] GpuSample sample() const;
  [[nodiscard]] GpuCounters counters() const;
  [[nodiscard]] GpuOthers others() const;

 private:
  /// What the library answers about this card.
  template <class Value, class... Arguments>
  Captured<Value> ask(const char* function, Arguments... arguments) const;
  [[nodiscard]] Captured<int> number(const char* function) const;
  [[nodiscard]] Captured<bool> state(const char* function) const;
  [[nodiscard]] results::GpuClocks clocks(const char* function) const;

  std::string pci_bus_id_;
  nvml::Library library_;
  Captured<nvml::Device> device_;
};

}  // namespace bench
