#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/flag_value.h"

namespace bench {

/// The command line's values, one member per flag and named like it (bench/flags/*.inc). A flag
/// without a default is unset unless it was given. Enumerated values have the spelling of the
/// table, whatever case was given.
struct Flags {
  using bool_value = bool;
  using int64_value = std::int64_t;
  using double_value = double;
  using string_value = std::string;

#define BENCH_FLAG(type, name, value, ...) type##_value name = value;
#define BENCH_FLAG_UNSET(type, name, ...) std::optional<type##_value> name = {};
#define BENCH_FLAG_LIST(name, ...) std::vector<std::string> name = {};
#define BENCH_FLAG_SWITCH(name, ...)
#define BENCH_FLAG_PARSER(name, ...)
#include "bench/flags/table.inc"
#undef BENCH_FLAG
#undef BENCH_FLAG_UNSET
#undef BENCH_FLAG_LIST
#undef BENCH_FLAG_SWITCH
#undef BENCH_FLAG_PARSER
};

/// What a command line says.
struct ParseResult {
  Flags flags;
  /// The flags given explicitly, by name, with their text as given ("true" for `--flag`); of one
  /// that is given several times the last.
  std::map<std::string, std::string, std::less<>> given;
  /// One sentence for each given flag that has no effect or another one than it had, that is
  /// overridden by a later one, or is passed over.
  std::vector<std::string> notices;
  /// The files that flags were read from.
  std::vector<std::string> flag_files;
  /// What print_help() is asked for.
  std::optional<std::string> help_topic;
  bool version_asked = false;
  bool models_asked = false;
  bool variables_asked = false;
};

/// Reads a command line (without the program's name): `--flag=value`, `--flag value` (not for
/// booleans), `--flag`, `--noflag`; one dash does too, and dashes for underscores. Of a flag that
/// is given several times the last wins, with a notice; the others must be of its type, list and
/// bounds too, a --model the name of a network. The name of a model gets its listed spelling,
/// --num_batches=0 is unset. Throws UsageError for unknown flags (with near names), positional
/// arguments, values out of type, list or bounds, combinations that exclude each other (see
/// validate()), and what is not built yet. When help, the version or the list of models is asked
/// for, the last two are not looked at. Not thread-safe: the gflags library's registry is changed
/// and restored meanwhile.
ParseResult parse_flags(std::span<const std::string_view> arguments);

/// The same for main's arguments, where argv[0] is the program.
ParseResult parse_flags(int argc, char** argv);

/// All flags in the table's order with their values.
std::vector<std::pair<std::string_view, results::FlagValue>> flag_values(const Flags& flags);

}  // namespace bench
