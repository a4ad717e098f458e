#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/host/system_files.h"
#include "results/conditions.h"

namespace bench {

/// A reading of the processors' counters of energy (RAPL, /sys/class/powercap).
struct RaplReading {
  struct Domain {
    std::string name{};
    std::int64_t microjoules = 0;
    std::int64_t range = 0;  ///< Where the counter begins anew.
  };
  /// Packages and what else is counted by itself: memory within a package is no part of it.
  std::vector<Domain> domains{};
};

/// Or why there is none: only privileged users may read it since CVE-2020-8694.
Captured<RaplReading> read_rapl(const SystemFiles& files);

/// Between two readings; a counter that began anew once is put right.
results::Energy rapl_energy(const Captured<RaplReading>& before,
                            const Captured<RaplReading>& after);

}  // namespace bench
