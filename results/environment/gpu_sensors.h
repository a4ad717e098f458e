#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "results/environment/nvml.h"
#include "results/record/gpu.h"

namespace bench {

/// The state of a card at one moment.
struct GpuSample {
  Captured<double> sm_mhz{};
  Captured<double> watts{};
  Captured<double> celsius{};
  Captured<double> utilization{};  ///< Recent fraction of time with a kernel, 0 to 1.
  Captured<std::uint64_t> clock_events{};
};

/// The counters of a card since the driver was loaded.
struct GpuCounters {
  Captured<double> joules{};
  Captured<std::chrono::nanoseconds> power_violation{};
  Captured<std::chrono::nanoseconds> thermal_violation{};
  Captured<std::int64_t> ecc_corrected{};
  Captured<std::int64_t> ecc_uncorrected{};
};

/// The other programs that compute on a card. The driver's list is assumed to include this program,
/// because it computes when the list is read.
struct GpuOthers {
  Captured<std::int64_t> count{};
  /// Unknown if this program cannot find its own id in the list. This happens in a container whose
  /// process ids differ from the driver's.
  Captured<std::vector<results::GpuProcess>> processes{};
};

/// The sensors of a card, read through the driver. Missing values never throw: the value is then
/// unknown, with the reason. Several threads may use it.
class GpuSensors {
 public:
  /// Identifies the card by its PCI bus id ("0000:0e:00.0"), which no environment variable
  /// renumbers.
  explicit GpuSensors(const std::string& pci_bus_id, const std::string& library = nvml::kLibrary);

  /// Why the card cannot be queried; empty if it can.
  [[nodiscard]] std::string why_not() const { return device_.why(); }

  /// Fills in everything except the name, the capability and the watched values.
  void describe(results::Gpu& gpu) const;
  [[nodiscard]] GpuSample sample() const;
  [[nodiscard]] GpuCounters counters() const;
  /// Processes in other slices of a partitioned card (MIG) do not count.
  [[nodiscard]] GpuOthers others() const;
  /// These processes on the card belong to this run, so others() omits them.
  void set_neighbours(std::set<std::int64_t> ids) { neighbours_ = std::move(ids); }

 private:
  /// The library's answer about this card.
  template <class Value, class... Arguments>
  Captured<Value> ask(const char* function, Arguments... arguments) const;
  [[nodiscard]] Captured<int> number(const char* function) const;
  [[nodiscard]] Captured<bool> state(const char* function) const;
  [[nodiscard]] results::GpuClocks clocks(const char* function) const;

  std::string pci_bus_id_;
  nvml::Library library_;
  Captured<nvml::Device> device_;
  std::set<std::int64_t> neighbours_;
};

}  // namespace bench
