#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/environment/system_files.h"
#include "results/record/conditions.h"

namespace bench {

/// A reading of the processors' energy counters (RAPL, /sys/class/powercap).
struct RaplReading {
  struct Domain {
    std::string name{};
    std::int64_t microjoules = 0;
    std::int64_t range = 0;  ///< The counter wraps around here.
  };
  /// The packages, and memory, which is counted separately.
  std::vector<Domain> domains{};
};

/// Reads the counters. Since CVE-2020-8694 only privileged users may read them; else unknown.
Captured<RaplReading> read_rapl(const SystemFiles& files);

/// The energy between two readings. Corrects a counter that wrapped around once.
results::Energy rapl_energy(const Captured<RaplReading>& before,
                            const Captured<RaplReading>& after);

}  // namespace bench
