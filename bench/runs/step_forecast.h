#pragma once

#include <iosfwd>

#include "kernels/runtime/lowering.h"

namespace bench {

/// What a plan says of one step: of its nodes and reorders, without the optimizer, the input's
/// arrival and the results' way to the host.
struct StepForecast {
  /// Nodes and reorders.
  std::size_t steps = 0;
  /// As launches_of() has it.
  int launches = 0;
  /// That kernels have to read and write.
  double bytes = 0;
  /// By the backend's estimates.
  double seconds = 0;
};
StepForecast forecast_of(const LoweredGraph& lowered);

/// "planned step: 229 nodes and reorders in 483 launches, ...", a line. Launches are told of
/// devices that have them.
void print_forecast(const LoweredGraph& lowered, std::int64_t batch, bool launches,
                    std::ostream& out);

}  // namespace bench
