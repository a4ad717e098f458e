#pragma once

#include <string>
#include <vector>

#include "bench/plan/settings.h"

namespace bench {

/// Lists rounding that the flags do not show: pixels, and with TF32 the inputs of products.
std::vector<std::string> rounding_notices(const RunSettings& settings);

}  // namespace bench
