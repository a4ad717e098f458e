#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`, case
/// ignored (the restricted Damerau-Levenshtein distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns at most three of `candidates` that a user who wrote `given` may have meant. Names that
/// contain it or begin with it come first, then the nearest ones.
std::vector<std::string_view> near_names(std::string_view given,
                                         std::span<const std::string_view> candidates);

/// "; did you mean --a or --b?" with `dashes` before each name; empty if `near` is.
std::string did_you_mean(std::span<const std::string_view> near, std::string_view dashes = "");

}  // namespace bench
