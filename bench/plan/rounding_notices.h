#pragma once

#include <string>
#include <vector>

#include "bench/plan/settings.h"

namespace bench {

/// What a run rounds that its flags do not say: pixels, and in TF32 the inputs of products.
std::vector<std::string> rounding_notices(const RunSettings& settings);

}  // namespace bench
