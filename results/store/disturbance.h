#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// What disturbed a run according to its record, such as "other programs used the processors". One
/// phrase per cause, by the limits of the quality score. Empty if nothing is known.
std::vector<std::string> disturbances_of(const nlohmann::json& record);

/// The number of runs that belong together, and of those that were disturbed.
struct DisturbedRuns {
  std::size_t runs = 0;
  std::size_t disturbed = 0;

  /// True if more than one run and more than a tenth were disturbed, or if half of them were. A
  /// rank test tolerates fewer.
  [[nodiscard]] bool too_many() const;
};

DisturbedRuns disturbed_runs(std::span<const StoredRun* const> runs);

}  // namespace bench::results
