#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/flags/flags.h"
#include "models/base/errors.h"

namespace bench {

/// Parses a command line written as a list of arguments.
inline ParseResult parse(const std::vector<std::string_view>& arguments) {
  return parse_flags(arguments);
}

/// The message of the UsageError that `act` throws.
template <class Act>
std::string usage_error(Act act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

/// The message of the UsageError for these arguments.
inline std::string refusal(const std::vector<std::string_view>& arguments) {
  return usage_error([&] { parse(arguments); });
}

}  // namespace bench
