#pragma once

#include <span>
#include <string_view>

#include "bench/flags/table.h"
#include "models/base/errors.h"

namespace bench {

/// The error for an enumerated flag: "--flag=given: unknown value; accepted: a, b (not
/// applicable: c); did you mean a?" It suggests the supported value that other programs call so
/// (hints.h), else a similar name. If the flag can also be given without a value, it may suggest
/// --model with a network of that name.
UsageError unknown_value(const FlagRow& row, std::string_view given);

/// The error for values that are too many for a sentence, but listed by another flag:
/// "--flag=given: unknown value; did you mean a? --list lists all". `flag` has no dashes.
UsageError unknown_value(std::string_view flag, std::string_view given,
                         std::span<const std::string_view> accepted, std::string_view listed_by);

/// The error for an unknown --model, with similar names.
UsageError unknown_model(std::string_view given);

/// The network that `word` names, in its listed spelling; empty for unknown words. Ignores case,
/// dashes and underscores.
std::string_view model_meant_by(std::string_view word);

/// "--given: unknown flag; did you mean --a?" `given` includes the one or two dashes. The
/// suggestion comes from hints.h, else is a model of that name, else a similar name.
UsageError unknown_flag(std::string_view given);

}  // namespace bench
