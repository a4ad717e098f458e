#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// One argument of the command line, or one line of a flag file.
struct Argument {
  std::string text;
  std::string origin = {};  ///< "FILE, line 3" if it comes from a file, else empty
};

/// The argument without its one or two leading dashes.
std::string_view without_dashes(std::string_view argument);

/// Throws UsageError with `message`, preceded by the origin of the flag if there is one.
[[noreturn]] void refuse_at(const std::string& origin, std::string_view message);

struct ExpandedArguments {
  std::vector<Argument> arguments;
  /// The paths of the files that were read.
  std::vector<std::string> files = {};
};

/// Replaces each `--flagfile=FILE` (or `--flagfile FILE`) by the lines of FILE, as absl does.
///
/// - blanks around a line are ignored, as are empty lines and lines that begin with # or //;
/// - a line may name another file;
/// - paths are relative to the current folder ("~/" to $HOME);
/// - arguments after "--" remain unchanged.
///
/// Throws UsageError with file and line in these cases: a file cannot be read, exceeds 1 MiB or
/// includes itself; a line is not a flag.
ExpandedArguments expand_flag_files(std::span<const std::string_view> arguments);

}  // namespace bench
