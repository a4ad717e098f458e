#include <algorithm>

#include "bench/flags.h"
#include "bench/flags_check.h"
#include "bench/flags_near.h"
#include "bench/flags_table.h"
#include "bench/flags_typed.h"
#include "bench/validation.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using Arguments = std::span<const std::string_view>;

// The argument without its one or two dashes.
std::string_view without_dashes(std::string_view argument) {
  argument.remove_prefix(argument.starts_with("--") ? 2 : argument.starts_with("-") ? 1 : 0);
  return argument;
}

// `before`: the argument in front of it. After a boolean the value must have been meant.
UsageError positional_argument(std::string_view argument, std::string_view before) {
  const std::string start = cat("'", argument, "': positional arguments are not accepted; ");
  const FlagRow* row = before.starts_with("-") ? find_flag(without_dashes(before)) : nullptr;
  if (row != nullptr && row->type == FlagType::kBool) {
    return UsageError(cat(start, "write --", row->name, "=", argument, " instead of --", row->name,
                          " ", argument));
  }
  return UsageError(cat(start, "flags are written --name=value"));
}

// Reads the flag at arguments[0] and, for `--flag value`, its value at arguments[1]; `used` counts
// what was read.
GivenFlag read_flag(Arguments arguments, std::size_t& used) {
  const std::string_view body = without_dashes(arguments[0]);
  const std::size_t equals = body.find('=');
  const std::string_view name = body.substr(0, equals);
  used = 1;
  const FlagRow* row = find_flag(name);
  if (row == nullptr) {
    const FlagRow* negated = name.starts_with("no") ? find_flag(name.substr(2)) : nullptr;
    if (negated == nullptr || negated->type != FlagType::kBool) {
      throw unknown_flag(name);
    }
    if (equals != std::string_view::npos) {
      throw UsageError(cat("--", body, ": --", name, " takes no value"));
    }
    return {.row = negated, .text = "false"};
  }
  if (equals != std::string_view::npos) {
    return {.row = row, .text = std::string(body.substr(equals + 1))};
  }
  if (row->type == FlagType::kBool) {
    return {.row = row, .text = "true"};
  }
  if (!row->accepted.bare.empty()) {
    return {.row = row, .text = std::string(row->accepted.bare)};
  }
  if (arguments.size() < 2 || arguments[1].starts_with("--")) {
    throw UsageError(cat("--", name, " needs a value: ", describe_accepted(*row)));
  }
  used = 2;
  return {.row = row, .text = std::string(arguments[1])};
}

std::vector<GivenFlag> read_arguments(Arguments arguments) {
  std::vector<GivenFlag> given;
  std::string_view before;
  while (!arguments.empty()) {
    const std::string_view argument = arguments.front();
    if (argument == "--") {  // ends the flags
      if (arguments.size() > 1) {
        throw positional_argument(arguments[1], argument);
      }
      break;
    }
    if (argument.size() < 2 || argument.front() != '-') {
      throw positional_argument(argument, before);
    }
    std::size_t used = 0;
    GivenFlag flag = read_flag(arguments, used);
    before = arguments[used - 1];
    arguments = arguments.subspan(used);
    // The last of several wins.
    std::erase_if(given, [&](const GivenFlag& earlier) { return earlier.row == flag.row; });
    given.push_back(std::move(flag));
  }
  return given;
}

}  // namespace

ParseResult parse_flags(std::span<const std::string_view> arguments) {
  std::vector<GivenFlag> given = read_arguments(arguments);
  ParseResult result;
  for (GivenFlag& flag : given) {
    result.given.emplace(flag.row->name, flag.text);
    flag.text = accepted_text(*flag.row, flag.text);
  }
  TypedFlags typed = type_flags(given);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const FlagRow& row = *given[i].row;
    check_bounds(given[i], typed.values[i]);
    if (typed.values[i].text == "true") {
      result.help_asked |= row.name == "help";
      result.version_asked |= row.name == "version";
      result.models_asked |= row.name == "list_models";
      result.variables_asked |= row.name == "list_variables";
    }
  }
  result.flags = std::move(typed.flags);
  if (result.help_asked || result.version_asked || result.models_asked) {
    return result;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const FlagRow& row = *given[i].row;
    check_support(given[i], typed.values[i]);
    if (const std::string notice = notice_of(row.support); !notice.empty()) {
      result.notices.push_back(cat("--", row.name, ": ", notice));
    }
  }
  validate(result.flags);
  return result;
}

ParseResult parse_flags(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + std::min(argc, 1), argv + argc);
  return parse_flags(arguments);
}

}  // namespace bench
