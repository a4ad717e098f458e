#include "results/environment/gpu_sensors.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr double kThousandth = 1e-3;
constexpr double kHundredth = 1e-2;

/// Applies `change` to a value if it is known.
template <class Change, class Value>
auto map(const Captured<Value>& value, Change change) -> Captured<decltype(change(value.value()))> {
  if (!value.known()) {
    return Unknown{value.why()};
  }
  return change(value.value());
}

Captured<std::int64_t> integer(const Captured<unsigned long long>& value) {
  return map(value, [](unsigned long long x) { return static_cast<std::int64_t>(x); });
}

Captured<double> scaled(const Captured<unsigned>& value, double by) {
  return map(value, [by](unsigned x) { return by * x; });
}

results::GpuProcess described(const nvml::ProcessInfo& process) {
  results::GpuProcess out{.pid = process.pid};
  if (process.used_memory == nvml::kNotAvailable) {
    out.memory = Unknown{"the driver does not report it"};
  } else {
    out.memory = static_cast<std::int64_t>(process.used_memory);
  }
  return out;
}

}  // namespace

GpuSensors::GpuSensors(const std::string& pci_bus_id, const std::string& library)
    : pci_bus_id_(pci_bus_id),
      library_(library),
      device_(library_.ask<nvml::Device>("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str())) {}

template <class Value, class... Arguments>
Captured<Value> GpuSensors::ask(const char* function, Arguments... arguments) const {
  if (!device_.known()) {
    return Unknown{device_.why()};
  }
  return library_.ask<Value>(function, device_.value(), arguments...);
}

Captured<int> GpuSensors::number(const char* function) const {
  return map(ask<unsigned>(function), [](unsigned x) { return static_cast<int>(x); });
}

/// The current state of a feature; the state after the next boot may differ.
Captured<bool> GpuSensors::state(const char* function) const {
  unsigned current = 0;
  return map(ask<unsigned>(function, &current), [&](unsigned /*pending*/) { return current != 0; });
}

results::GpuClocks GpuSensors::clocks(const char* function) const {
  const auto clock = [&](nvml::ClockType type) {
    return map(ask<unsigned>(function, type), [](unsigned x) { return static_cast<int>(x); });
  };
  return {.sm = clock(nvml::kSmClock),
          .memory = clock(nvml::kMemoryClock),
          .graphics = clock(nvml::kGraphicsClock)};
}

void GpuSensors::describe(results::Gpu& gpu) const {
  gpu.pci_bus_id = pci_bus_id_;
  gpu.uuid = device_.known() ? library_.ask_text("nvmlDeviceGetUUID", device_.value())
                             : Captured<std::string>(Unknown{device_.why()});
  gpu.driver = library_.ask_text("nvmlSystemGetDriverVersion");
  gpu.nvml = library_.ask_text("nvmlSystemGetNVMLVersion");
  const Captured<nvml::Memory> memory = ask<nvml::Memory>("nvmlDeviceGetMemoryInfo");
  gpu.memory_total = integer(map(memory, [](const nvml::Memory& x) { return x.total; }));
  gpu.memory_used = integer(map(memory, [](const nvml::Memory& x) { return x.used; }));
  gpu.ecc = state("nvmlDeviceGetEccMode");
  gpu.persistence = map(ask<unsigned>("nvmlDeviceGetPersistenceMode"),
                        [](unsigned enabled) { return enabled != 0; });
  gpu.mig = state("nvmlDeviceGetMigMode");
  gpu.clocks = clocks("nvmlDeviceGetClockInfo");
  gpu.clocks_max = clocks("nvmlDeviceGetMaxClockInfo");
  gpu.power_limit_watts = scaled(ask<unsigned>("nvmlDeviceGetEnforcedPowerLimit"), kThousandth);
  gpu.power_limit_default_watts =
      scaled(ask<unsigned>("nvmlDeviceGetPowerManagementDefaultLimit"), kThousandth);
  gpu.celsius = scaled(ask<unsigned>("nvmlDeviceGetTemperature", nvml::kGpuSensor), 1);
  gpu.pcie = {.generation = number("nvmlDeviceGetCurrPcieLinkGeneration"),
              .width = number("nvmlDeviceGetCurrPcieLinkWidth"),
              .generation_max = number("nvmlDeviceGetMaxPcieLinkGeneration"),
              .width_max = number("nvmlDeviceGetMaxPcieLinkWidth")};
}

GpuSample GpuSensors::sample() const {
  constexpr const char* kEvents = "nvmlDeviceGetCurrentClocksEventReasons";
  // The name in older drivers.
  constexpr const char* kOlderEvents = "nvmlDeviceGetCurrentClocksThrottleReasons";
  const char* const events =
      library_.has(kEvents) || !library_.has(kOlderEvents) ? kEvents : kOlderEvents;
  return {.sm_mhz = scaled(ask<unsigned>("nvmlDeviceGetClockInfo", nvml::kSmClock), 1),
          .watts = scaled(ask<unsigned>("nvmlDeviceGetPowerUsage"), kThousandth),
          .celsius = scaled(ask<unsigned>("nvmlDeviceGetTemperature", nvml::kGpuSensor), 1),
          .utilization = map(ask<nvml::Utilization>("nvmlDeviceGetUtilizationRates"),
                             [](const nvml::Utilization& x) { return kHundredth * x.gpu; }),
          .clock_events = map(ask<unsigned long long>(events),
                              [](unsigned long long x) { return std::uint64_t{x}; })};
}

GpuCounters GpuSensors::counters() const {
  const auto violation = [&](nvml::PerformancePolicy policy) {
    return map(ask<nvml::ViolationTime>("nvmlDeviceGetViolationStatus", policy),
               [](const nvml::ViolationTime& x) {
                 return std::chrono::nanoseconds(static_cast<std::int64_t>(x.violation_ns));
               });
  };
  const auto errors = [&](nvml::EccErrorType type) {
    return integer(
        ask<unsigned long long>("nvmlDeviceGetTotalEccErrors", type, nvml::kSinceDriverLoad));
  };
  return {.joules = map(ask<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption"),
                        [](unsigned long long x) { return kThousandth * static_cast<double>(x); }),
          .power_violation = violation(nvml::kPower),
          .thermal_violation = violation(nvml::kThermal),
          .ecc_corrected = errors(nvml::kCorrected),
          .ecc_uncorrected = errors(nvml::kUncorrected)};
}

GpuOthers GpuSensors::others() const {
  constexpr unsigned kMost = 256;
  if (!device_.known()) {
    const Unknown why{device_.why()};
    return {.count = why, .processes = why};
  }
  unsigned count = kMost;
  std::vector<nvml::ProcessInfo> running(kMost);
  if (const auto why = library_.call("nvmlDeviceGetComputeRunningProcesses_v3", device_.value(),
                                     &count, running.data())) {
    return {.count = *why, .processes = *why};
  }
  running.resize(std::min(count, kMost));
  if (running.empty()) {
    const Unknown why{"the driver lists no process on the card, not even this one"};
    return {.count = why, .processes = why};
  }
  const auto self =
      std::ranges::find(running, static_cast<unsigned>(getpid()), &nvml::ProcessInfo::pid);
  if (self != running.end()) {
    const unsigned instance = self->gpu_instance;
    std::erase_if(running, [&](const nvml::ProcessInfo& x) {
      return x.gpu_instance != instance || x.pid == static_cast<unsigned>(getpid()) ||
             neighbours_.contains(x.pid);
    });
    std::vector<results::GpuProcess> processes;
    std::ranges::transform(running, std::back_inserter(processes), described);
    const std::int64_t others = std::ssize(processes);
    return {.count = others, .processes = std::move(processes)};
  }
  if (running.size() == 1) {  // This process, by another id.
    return {.count = 0, .processes = std::vector<results::GpuProcess>()};
  }
  const Unknown why{
      fmt::format("the driver lists {} processes on the card, including this one, by ids of "
                  "another PID namespace",
                  running.size())};
  const bool sliced = std::ranges::any_of(
      running, [&](const auto& x) { return x.gpu_instance != running.front().gpu_instance; });
  if (sliced || !neighbours_.empty()) {  // They may be this run's, or in other slices.
    return {.count = why, .processes = why};
  }
  return {.count = std::ssize(running) - 1, .processes = why};
}

}  // namespace bench
