#pragma once

#include <iosfwd>

#include "bench/plan/settings.h"
#include "kernels/runtime/lowering.h"

namespace bench {

/// The forecast of a plan for one step: its nodes and reorders, without the optimizer and the
/// transfers of input and results.
struct StepForecast {
  /// Nodes and reorders.
  std::size_t steps = 0;
  /// The sum of launches_of().
  int launches = 0;
  /// The bytes that kernels must read and write.
  double bytes = 0;
  /// According to the backend's estimates.
  double seconds = 0;
};
StepForecast forecast_of(const LoweredGraph& lowered);

/// Prints a line: "planned step: 229 nodes and reorders in 483 launches, ...". Includes launches
/// only if `launches` is set. A step runs the network on a part of the batch at a time if the
/// settings say so, and once for each virtual tower.
void print_forecast(const LoweredGraph& lowered, const RunSettings& settings, bool launches,
                    std::ostream& out);

}  // namespace bench
