#include "results/tool/commands.h"

#include <array>
#include <vector>

#include "models/base/errors.h"
#include "models/base/near_names.h"

namespace bench::results {

std::span<const Command> commands() {
  static constexpr auto kCommands = std::to_array<Command>({
#define BENCH_COMMAND(name, operands, summary) \
  {#name, operands, summary, &options_of_##name, &run_##name},
#include "results/tool/commands.inc"
#undef BENCH_COMMAND
  });
  return kCommands;
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
