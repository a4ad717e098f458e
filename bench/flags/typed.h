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
  std::string origin = {};  ///< of one out of a file: "FILE, line 3"
};

/// Calls `act`, whose UsageError then names the flag's origin too.
template <class Act>
void naming_origin(const GivenFlag& flag, const Act& act) {
  try {
    act();
  } catch (const UsageError& error) {
    refuse_at(flag.origin, error.what());
  }
}

/// What the text of a given flag means.
struct TypedValue {
  std::string text;  ///< the same value in one spelling: "true", "32", "0.5"
  bool is_default;   ///< equal to the flag's default; false where there is none
};

/// Values of their types.
struct TypedFlags {
  Flags flags;
  std::vector<TypedValue> values;  ///< parallel to the given flags
};

/// Hands the texts to gflags, which knows the types; of a flag that is given several times the last
/// holds. Throws UsageError for a text that is not of its flag's type. The only place that touches
/// gflags; its registry is as before afterwards.
TypedFlags type_flags(const std::vector<GivenFlag>& given);

}  // namespace bench
