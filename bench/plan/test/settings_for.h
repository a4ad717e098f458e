#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"

namespace bench {

/// The settings of a command line.
inline RunSettings settings_for(const std::vector<std::string_view>& arguments) {
  return resolve_settings(parse(arguments));
}

/// Why a command line is refused, as usage_error() returns it.
inline std::string settings_refusal(const std::vector<std::string_view>& arguments) {
  return usage_error([&] { settings_for(arguments); });
}

}  // namespace bench
