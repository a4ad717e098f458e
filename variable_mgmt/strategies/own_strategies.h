#pragma once

#include "variable_mgmt/strategies/strategy.h"

namespace bench {

/// Reasons why a step is not recorded as a whole.
inline constexpr const char* kReducedOnTheHost =
    "the gradients of several towers are reduced on the host";
inline constexpr const char* kReducedBetweenCopies =
    "several towers synchronize on the host between device-to-device copies";

// The functions named in strategies.inc, each in a file; some rows share them.
#define BENCH_STRATEGY(name, make, memory, reduction)                                        \
  std::unique_ptr<UpdateStrategy> make(const TowerContext& context,                          \
                                       const StrategySettings& settings);                    \
  std::vector<StrategyMemory> memory(std::span<const OptimizerSegment> segments, int towers, \
                                     const StrategySettings& settings);
#include "variable_mgmt/strategies/strategies.inc"
#undef BENCH_STRATEGY

}  // namespace bench
