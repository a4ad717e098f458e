#include "results/tool/commands.h"

#include <algorithm>
#include <array>
#include <vector>

#include "models/base/errors.h"
#include "models/base/near_names.h"

namespace bench::results {
namespace {

/// True if the next word is the value of this option, according to the first command that has it.
bool uses_next_word(std::string_view word) {
  for (const Command& command : commands()) {
    const OptionWord given = find_option(command.options(), word);
    if (given.option != nullptr) {
      return given.uses_next_word();
    }
  }
  return false;
}

}  // namespace

std::span<const Command> commands() {
  static constexpr auto kCommands = std::to_array<Command>({
#define BENCH_COMMAND(name, operands, summary) \
  {#name, operands, summary, &options_of_##name, &run_##name},
#include "results/tool/commands.inc"
#undef BENCH_COMMAND
  });
  return kCommands;
}

std::size_t command_position(std::span<const std::string> words) {
  std::size_t at = 0;
  while (at < words.size() && words[at].size() > 1 && words[at].front() == '-') {
    at += uses_next_word(words[at]) ? 2 : 1;
  }
  return std::min(at, words.size());
}

const Command& find_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) {
    if (command.name == name) {
      return command;
    }
    names.push_back(command.name);
  }
  const std::string suggestion = did_you_mean(near_names(name, names));
  if (!suggestion.empty())
    throw UsageError(fmt::format("unknown command '{}'{}", name, suggestion));
  throw UsageError(fmt::format("unknown command '{}'; bench_results --help lists all", name));
}

}  // namespace bench::results
