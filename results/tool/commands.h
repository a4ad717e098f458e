#pragma once

#include <span>
#include <string_view>

#include "models/base/command_line.h"
#include "results/tool/streams.h"

namespace bench::results {

/// A command of the program: a row of commands.inc.
struct Command {
  std::string_view name;
  std::string_view operands;  ///< The operands in the help.
  std::string_view summary;
  std::span<const Option> (*options)();
  /// Returns the exit status; throws UsageError, DataError, WriteError.
  int (*run)(const Arguments&, Streams);
};

#define BENCH_COMMAND(name, operands, summary) \
  std::span<const Option> options_of_##name(); \
  int run_##name(const Arguments& arguments, Streams streams);
#include "results/tool/commands.inc"
#undef BENCH_COMMAND

/// All commands, in the order of the help.
std::span<const Command> commands();

/// The position of the command among the program's words: options may come before it. Returns the
/// number of words if they contain no command.
std::size_t command_position(std::span<const std::string> words);

/// The command called `name`; throws UsageError, naming similar ones.
const Command& find_command(std::string_view name);

}  // namespace bench::results
