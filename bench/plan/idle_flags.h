#pragma once

#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

/// Returns "--momentum: no effect with --optimizer=sgd" for each given flag that the other flags
/// make idle. Ignores flags that only repeat a default of false or 0. Reads flags, model, dataset
/// and device from `settings`.
std::vector<std::string> idle_flag_notices(const RunSettings& settings, const ParseResult& parsed);

}  // namespace bench
