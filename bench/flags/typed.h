#pragma once

#include <string>
#include <vector>

#include "bench/flags/file.h"
#include "bench/flags/flags.h"
#include "bench/flags/table.h"
#include "models/base/errors.h"

namespace bench {

/// A flag that was given, with its text.
struct GivenFlag {
  const FlagRow* row;
  std::string text;
  std::string origin = {};  ///< "FILE, line 3" if it comes from a file
};

/// Calls `act` and adds the flag's origin to the UsageError that it throws.
template <class Act>
void naming_origin(const GivenFlag& flag, const Act& act) {
  try {
    act();
  } catch (const UsageError& error) {
    refuse_at(flag.origin, error.what());
  }
}

/// The value of a given flag's text.
struct TypedValue {
  std::string text;  ///< the value in canonical form: "true", "32", "0.5"
  bool is_default;   ///< equal to the flag's default; false without a default
};

/// The typed values of flags.
struct TypedFlags {
  Flags flags;
  std::vector<TypedValue> values;  ///< parallel to the given flags
};

/// Parses the texts with gflags, which knows the types. If a flag is repeated, the last value wins.
/// Throws UsageError for a text that does not fit its flag's type. Only this function uses gflags;
/// it restores the registry of gflags afterwards.
TypedFlags type_flags(const std::vector<GivenFlag>& given);

}  // namespace bench
