#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace bench::results {

/// A flag's value; empty for a flag that was not given and has no default. Commas join a list.
using FlagValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
using FlagValues = std::map<std::string, FlagValue>;

}  // namespace bench::results
