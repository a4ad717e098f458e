#pragma once

#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

/// "--momentum: no effect with --optimizer=sgd" for each flag that was given and changes nothing
/// beside the others. One that only repeats a default of false or 0 asks for nothing, and is not
/// named. `settings` need flags, model, dataset and device.
std::vector<std::string> idle_flag_notices(const RunSettings& settings, const ParseResult& parsed);

}  // namespace bench
