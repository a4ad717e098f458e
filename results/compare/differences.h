#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// A part of the environment that differs between the sides.
struct EnvironmentDifference {
  std::string field{};              ///< For example host.kernel.
  std::vector<std::string> base{};  ///< The values of the runs, each once.
  std::vector<std::string> other{};
};

/// Where the sides' software, hardware and settings differ: fields whose sets of values are not
/// equal, by name. Besides chance, only these may explain a difference of the numbers.
std::vector<EnvironmentDifference> environment_differences(std::span<const StoredRun* const> base,
                                                           std::span<const StoredRun* const> other);

/// For example "host.kernel 6.1.0-28 -> 6.1.0-31"; long values are cut in the middle.
std::string text_of(const EnvironmentDifference& difference);

/// What lowered or disturbed the runs' numbers: each warning and each disturbance once, with the
/// number of runs that have it.
std::vector<std::string> quality_notes(std::span<const StoredRun* const> runs);

}  // namespace bench::results
