#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// One argument of the command line, or one line of a file of flags.
struct Argument {
  std::string text;
  std::string origin = {};  ///< "FILE, line 3" of one out of a file, else empty
};

/// The argument without its one or two dashes.
std::string_view without_dashes(std::string_view argument);

/// Throws UsageError with the origin of a flag, where it has one, in front of `message`.
[[noreturn]] void refuse_at(const std::string& origin, std::string_view message);

struct ExpandedArguments {
  std::vector<Argument> arguments;
  /// Paths of the files that were read.
  std::vector<std::string> files = {};
};

/// The arguments with the lines of FILE in the place of each `--flagfile=FILE` (or `--flagfile
/// FILE`), as absl reads it: blanks around a line, empty lines and those that begin with # or //
/// are left out, a line may name another file, and paths begin at the current folder ("~/" at
/// $HOME). What follows "--" is left alone. Throws UsageError, naming file and line, for a file
/// that cannot be read, is larger than 1 MiB, or includes itself, and for a line that is no flag.
ExpandedArguments expand_flag_files(std::span<const std::string_view> arguments);

}  // namespace bench
