#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/flags/batch_request.h"
#include "results/record/flag_value.h"

namespace bench {

/// The command line's values, one member per flag, with the flag's name (bench/flags/*.inc). A flag
/// without a default is unset unless it is given. Enumerated values have the spelling of the table,
/// whatever case the user wrote.
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

/// The result of parsing a command line.
struct ParseResult {
  Flags flags;
  /// The value of --batch_size.
  BatchRequest batch;
  /// The explicitly given flags by name, with their text as given ("true" for `--flag`). If a flag
  /// is repeated, the last value wins.
  std::map<std::string, std::string, std::less<>> given;
  /// One sentence for each given flag that is ignored, has no effect, has another effect than in
  /// tf_cnn_benchmarks, or is overridden by a later flag.
  std::vector<std::string> notices;
  /// The files from which flags were read.
  std::vector<std::string> flag_files;
  /// The topic to pass to print_help(), if help was requested.
  std::optional<std::string> help_topic;
  bool version_asked = false;
  bool models_asked = false;
  bool variables_asked = false;
};

/// Parses a command line without the program's name.
///
/// Accepts `--flag=value`, `--flag value` (not for booleans), `--flag` and `--noflag`, also with
/// one dash, and with dashes for underscores. If a flag is repeated, the last value wins, with a
/// notice. The other values must also fit the flag's type, list and bounds, and those of --model
/// must name a network. Model names get their listed spelling; --num_batches=0 means unset.
///
/// Throws UsageError for unknown flags (with similar names), positional arguments, and values
/// outside type, list or bounds. Also throws it for combinations that exclude each other (see
/// validate()) and for values that are not applicable. Skips these two checks if help, the version
/// or the list of models is requested. Not thread-safe: it temporarily changes the registry of the
/// gflags library.
ParseResult parse_flags(std::span<const std::string_view> arguments);

/// The same for main's arguments, where argv[0] is the program.
ParseResult parse_flags(int argc, char** argv);

/// All flags with their values, in the order of the table.
std::vector<std::pair<std::string_view, results::FlagValue>> flag_values(const Flags& flags);

}  // namespace bench
