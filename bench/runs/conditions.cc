#include "bench/runs/conditions.h"

#include <glog/logging.h>

#include <algorithm>
#include <set>

#include "bench/runs/attempt.h"
#include "models/base/errors.h"

namespace bench {
namespace {

std::vector<std::string> warnings_before(const RunSettings& settings, const RunHost& host,
                                         std::span<const Device> devices,
                                         const EnvironmentSnapshot& before) {
  std::set<int> used;
  std::size_t anywhere = 0;
  for (const Device& device : devices) {
    const std::vector<int>& processors = device.anywhere ? host.processors : device.processors;
    used.insert(processors.begin(), processors.end());
    anywhere += device.anywhere ? device.processors.size() : 0;
  }
  // The other processes of the run on this host use as many, and have as many devices.
  const std::size_t processes = host.world.neighbours.size() + 1;
  const std::size_t busy =
      processes * (anywhere > 0 ? std::min(anywhere, used.size()) : used.size());
  const int towers = settings.execution.device == RunDevice::cpu ? settings.workload.towers : 0;
  const EnvironmentSnapshot after =
      read_environment(host.files, std::vector<int>(used.begin(), used.end()));
  std::vector<std::string> warnings =
      environment_warnings(before, after,
                           {.processors = static_cast<int>(busy),
                            .devices = towers * static_cast<int>(processes),
                            .other_ranks = processes > 1});
  for (const Device& device : devices) {
    warnings.insert(warnings.end(), device.warnings.begin(), device.warnings.end());
  }
  return warnings;
}

}  // namespace

std::vector<std::unique_ptr<GpuSensors>> describe_gpus(std::span<const Device> devices,
                                                       const std::set<std::int64_t>& neighbours,
                                                       results::Record& record) {
  std::vector<std::unique_ptr<GpuSensors>> all;
  std::set<std::string> seen;
  for (const Device& device : devices) {
    if (!device.gpu || !seen.insert(device.gpu->pci_bus_id).second) {
      continue;
    }
    const GpuDescription& gpu = *device.gpu;
    constexpr int kMinorVersions = 10;
    results::Gpu& described = record.gpus.emplace_back();
    described.name = gpu.name;
    described.compute_capability =
        fmt::format("{}.{}", gpu.capability / kMinorVersions, gpu.capability % kMinorVersions);
    auto sensors = std::make_unique<GpuSensors>(gpu.pci_bus_id);
    sensors->set_neighbours(neighbours);
    sensors->describe(described);
    if (!sensors->why_not().empty()) {
      described.watched = Unknown{sensors->why_not()};
      sensors.reset();
    }
    all.push_back(std::move(sensors));
  }
  return all;
}

void check_conditions(const RunSettings& settings, const EnvironmentSnapshot& before,
                      std::span<const Device> devices, const RunHost& host,
                      results::Record& record) {
  record.quality.warnings = warnings_before(settings, host, devices, before);
  for (const std::string& warning : record.quality.warnings) {
    LOG(WARNING) << "warning: " << warning;
  }
  if (settings.outputs.record.reportable && !record.quality.warnings.empty()) {
    throw MismatchError(
        fmt::format("--reportable: not measured, because the result would be unfit to publish: {}",
                    record.quality.warnings.front()));
  }
}

}  // namespace bench
