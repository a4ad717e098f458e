#pragma once

#include <string>

#include "bench/flags/typed.h"

namespace bench {

/// The text of an enumerated flag in the table's spelling, other texts unchanged. Throws UsageError
/// for a text that is not among the enumerated values or of the form that its flag asks for, a
/// number that is not written in decimal or is beyond 64 bits, and for an empty text where it must
/// not be.
std::string accepted_text(const FlagRow& row, const std::string& text);

/// Throws UsageError if a number is out of the bounds of its flag.
void check_bounds(const GivenFlag& flag, const TypedValue& value);

/// Throws UsageError if this version does not do what `value` asks for.
void check_support(const GivenFlag& flag, const TypedValue& value);

}  // namespace bench
