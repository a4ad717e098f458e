#pragma once

#include <string>

#include "bench/flags/typed.h"

namespace bench {

/// Returns an enumerated flag's text in the table's spelling, and other texts unchanged.
///
/// Throws UsageError for a text that is not among the enumerated values, or not in the form of its
/// flag. Also throws it for a number that is not decimal or exceeds 64 bits, and for an empty text
/// if the flag forbids it.
std::string accepted_text(const FlagRow& row, const std::string& text);

/// Throws UsageError if a number is outside the bounds of its flag.
void check_bounds(const GivenFlag& flag, const TypedValue& value);

/// Throws UsageError if this version does not support `value`.
void check_support(const GivenFlag& flag, const TypedValue& value);

}  // namespace bench
