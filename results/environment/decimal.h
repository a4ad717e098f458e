#pragma once

#include <string>

#include "models/base/errors.h"

namespace bench {

/// Formats `value` with this number of decimals.
inline std::string decimal(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace bench
