#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "bench/plan/device.h"
#include "bench/plan/settings.h"
#include "bench/runs/run_host.h"
#include "results/environment/environment.h"
#include "results/environment/gpu_sensors.h"
#include "results/record/record.h"

namespace bench {

/// Adds each GPU that computes to the record, once. Returns their sensors; null if they cannot be
/// read. `neighbours` are the ids of the run's other processes on this host.
std::vector<std::unique_ptr<GpuSensors>> describe_gpus(std::span<const Device> devices,
                                                       const std::set<std::int64_t>& neighbours,
                                                       results::Record& record);

/// Records conditions that distort the measurement, and warns of them. Throws MismatchError for
/// such a condition with --reportable.
void check_conditions(const RunSettings& settings, const EnvironmentSnapshot& before,
                      std::span<const Device> devices, const RunHost& host,
                      results::Record& record);

}  // namespace bench
