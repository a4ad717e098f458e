#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/errors.h"

namespace bench {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`, case
/// ignored (the restricted Damerau-Levenshtein distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// At most three of `candidates` that someone who wrote `given` may have meant: those that contain
/// it, then the nearest.
std::vector<std::string_view> near_names(std::string_view given,
                                         std::span<const std::string_view> candidates);

/// "--flag=given: unknown value; accepted are a, b; did you mean a?" `flag` has no dashes.
UsageError unknown_value(std::string_view flag, std::string_view given,
                         std::span<const std::string_view> accepted);

/// The same for values that are too many for one sentence, where another flag lists them:
/// "--flag=given: unknown value; did you mean a? --list lists all".
UsageError unknown_value(std::string_view flag, std::string_view given,
                         std::span<const std::string_view> accepted, std::string_view listed_by);

/// "--given: unknown flag; did you mean --a? (--help lists all)" `given` has no dashes.
UsageError unknown_flag(std::string_view given);

}  // namespace bench
