#pragma once

#include <span>
#include <string_view>

#include "results/tool/arguments.h"
#include "results/tool/streams.h"

namespace bench::results {

/// A command of the program: a row of commands.inc.
struct Command {
  std::string_view name;
  std::string_view operands;  ///< As the help shows them.
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

/// All of them, in the order in which the help lists them.
std::span<const Command> commands();

/// The one called `name`; throws UsageError with those near to it.
const Command& find_command(std::string_view name);

}  // namespace bench::results
