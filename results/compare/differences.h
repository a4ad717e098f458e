#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// A part of the environment that is not the same on both sides.
struct EnvironmentDifference {
  std::string field{};              ///< Such as host.kernel.
  std::vector<std::string> base{};  ///< The values that runs have there, each once.
  std::vector<std::string> other{};
};

/// Where the sides' software, hardware and settings differ: fields whose sets of values are not
/// equal, by name. Which is all that may explain a difference of the numbers, besides chance.
std::vector<EnvironmentDifference> environment_differences(std::span<const StoredRun* const> base,
                                                           std::span<const StoredRun* const> other);

/// Such as "host.kernel 6.1.0-28 -> 6.1.0-31"; long values are cut in the middle.
std::string text_of(const EnvironmentDifference& difference);

/// What the runs say lowered or disturbed their numbers, each warning once, with how many have it.
std::vector<std::string> quality_notes(std::span<const StoredRun* const> runs);

}  // namespace bench::results
