#pragma once

#include <span>
#include <string_view>

#include "bench/flags/table.h"
#include "models/base/errors.h"

namespace bench {

/// Of an enumerated flag: "--flag=given: unknown value; accepted: a, b (not built yet: c); did you
/// mean a?" What is asked, of the values that are taken, is what other programs call so
/// (flags_hints.h), else a near name; of a flag that can stand alone, with --model where a network
/// is called so.
UsageError unknown_value(const FlagRow& row, std::string_view given);

/// Of values that are too many for one sentence, where another flag lists them:
/// "--flag=given: unknown value; did you mean a? --list lists all". `flag` has no dashes.
UsageError unknown_value(std::string_view flag, std::string_view given,
                         std::span<const std::string_view> accepted, std::string_view listed_by);

/// Of a --model that names no network here: what one of tf_cnn_benchmarks does that is not built,
/// else near names.
UsageError unknown_model(std::string_view given);

/// The network that `word` names, whatever the case, dashes and underscores, in its listed
/// spelling; empty: none.
std::string_view model_meant_by(std::string_view word);

/// Whether a network here or in tf_cnn_benchmarks is called so, in any case.
bool names_a_model(std::string_view name);

/// "--given: unknown flag; did you mean --a?" `given` has the dashes that were given, one or two.
/// What is asked, or said, is what flags_hints.h knows, a model of that name, else a near name.
UsageError unknown_flag(std::string_view given);

}  // namespace bench
