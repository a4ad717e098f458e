#include <algorithm>
#include <set>

#include "bench/flags/check.h"
#include "bench/flags/combinations.h"
#include "bench/flags/file.h"
#include "bench/flags/flags.h"
#include "bench/flags/near.h"
#include "bench/flags/table.h"
#include "bench/flags/typed.h"
#include "models/base/errors.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

using Arguments = std::span<const Argument>;

constexpr std::string_view kUndefok = "undefok";

// The flag's name in the table: `-batch-size=4` is batch_size, `-h` is help.
std::string name_in(std::string_view argument) {
  std::string name(without_dashes(argument));
  name.resize(std::min(name.find('='), name.size()));
  if (name == "h") {
    return "help";
  }
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// The boolean that `name` turns off, or null.
const FlagRow* negated_by(std::string_view name) {
  if (!name.starts_with("no")) {
    return nullptr;
  }
  name.remove_prefix(name.starts_with("no_") ? 3 : 2);
  const FlagRow* row = find_flag(name);
  return row != nullptr && row->type == FlagType::kBool ? row : nullptr;
}

// `before` is the preceding argument. If it is a flag that accepts no separate value, this argument
// was probably meant as its value.
std::string positional_argument(std::string_view argument, std::string_view before) {
  if (const std::string_view model = model_meant_by(argument); !model.empty()) {
    return fmt::format("'{}': positional arguments are not accepted; did you mean --model={}?",
                       argument, model);
  }
  const FlagRow* row = before.starts_with("-") && before.find('=') == std::string_view::npos
                           ? find_flag(name_in(before))
                           : nullptr;
  if (row != nullptr && (row->type == FlagType::kBool || !row->accepted.bare.empty())) {
    return fmt::format(
        "'{0}': positional arguments are not accepted; write --{1}={0} instead of --{1} {0}",
        argument, row->name);
  }
  return fmt::format("'{}': positional arguments are not accepted; write flags as --name=value",
                     argument);
}

// The help topic that corresponds to one of absl's help flags; empty for other flags.
std::string_view help_topic_of(std::string_view name) {
  if (name == "helpshort") {
    return find_flag("help")->accepted.bare;
  }
  return name == "helpfull" ? "all" : "";
}

// Parses the flag at arguments[0] and, for `--flag value`, its value at arguments[1]. Sets `used`
// to the number of arguments that it read.
GivenFlag read_flag(Arguments arguments, std::size_t& used) {
  const std::string_view written = arguments[0].text;
  const std::string_view body = without_dashes(written);
  const std::size_t equals = body.find('=');
  const std::string name = name_in(body);
  used = 1;
  const FlagRow* row = find_flag(name);
  if (row == nullptr) {
    const std::string_view topic = help_topic_of(name);
    if (!topic.empty() && equals == std::string_view::npos) {
      return {.row = find_flag("help"), .text = std::string(topic)};
    }
    const FlagRow* negated = negated_by(name);
    if (negated == nullptr && topic.empty()) {
      throw unknown_flag(written.substr(0, written.find('=')));
    }
    if (equals != std::string_view::npos) {
      throw UsageError(fmt::format("{}: --{} takes no value", written, name));
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
  if (arguments.size() < 2 || arguments[1].text.starts_with("--") ||
      arguments[1].origin != arguments[0].origin) {
    throw UsageError(fmt::format(
        "--{} needs a value: {}", name,
        row->accepted.values.empty() ? describe_accepted(*row) : describe_values(*row)));
  }
  used = 2;
  return {.row = row, .text = arguments[1].text};
}

// The flags that --undefok names, at any position.
std::set<std::string> flags_to_pass_over(Arguments arguments) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < arguments.size() && arguments[i].text != "--"; ++i) {
    const std::string& text = arguments[i].text;
    if (!text.starts_with("-") || name_in(text) != kUndefok) {
      continue;
    }
    std::string_view list = text;
    if (const std::size_t equals = list.find('='); equals != std::string_view::npos) {
      list.remove_prefix(equals + 1);
    } else {
      list = i + 1 < arguments.size() ? std::string_view(arguments[i + 1].text) : "";
    }
    for (const std::string& name : split_text(list, ',')) {
      names.insert(name_in(name));
    }
  }
  return names;
}

bool is_known(const std::string& name) {
  return find_flag(name) != nullptr || negated_by(name) != nullptr || !help_topic_of(name).empty();
}

/// The flags of a command line, in order.
struct GivenFlags {
  std::vector<GivenFlag> flags;
  std::vector<std::string> notices;
};

GivenFlags read_arguments(Arguments arguments) {
  const std::set<std::string> passed_over = flags_to_pass_over(arguments);
  const auto is_passed_over = [&](const std::string& name) {
    return !is_known(name) && (passed_over.contains(name) ||
                               (name.starts_with("no") && passed_over.contains(name.substr(2))));
  };
  GivenFlags given;
  std::string_view before;
  while (!arguments.empty()) {
    const Argument& argument = arguments.front();
    const std::string& text = argument.text;
    if (text == "--") {  // ends the flags
      if (arguments.size() > 1) {
        refuse_at(arguments[1].origin, positional_argument(arguments[1].text, text));
      }
      break;
    }
    if (text.size() < 2 || text.front() != '-') {
      refuse_at(argument.origin, positional_argument(text, before));
    }
    std::size_t used = 1;
    if (const std::string name = name_in(text); is_passed_over(name)) {
      given.notices.push_back(
          fmt::format("--{}: unknown flag, ignored because of --undefok", name));
    } else {
      GivenFlag flag{.row = nullptr, .text = {}, .origin = argument.origin};
      naming_origin(flag, [&] { flag = read_flag(arguments, used); });
      flag.origin = argument.origin;
      given.flags.push_back(std::move(flag));
    }
    before = arguments[used - 1].text;
    arguments = arguments.subspan(used);
  }
  return given;
}

// True if a later flag of the same name overrides it.
bool is_overridden(const std::vector<GivenFlag>& given, std::size_t index) {
  return std::any_of(given.begin() + static_cast<std::ptrdiff_t>(index) + 1, given.end(),
                     [&](const GivenFlag& later) { return later.row == given[index].row; });
}

// "--batch_size is given more than once: '8' is used, not '4'"; empty if both have the same
// meaning.
std::string overridden_notice(const std::vector<GivenFlag>& given, const TypedFlags& typed,
                              std::size_t last) {
  std::string others;
  for (std::size_t i = 0; i < last; ++i) {
    if (given[i].row == given[last].row && !given[i].row->for_parser &&
        typed.values[i].text != typed.values[last].text) {
      others += others.empty() ? "" : ", ";
      others += fmt::format("'{}'", given[i].text);
    }
  }
  return others.empty() ? ""
                        : fmt::format("--{} is given more than once: '{}' is used, not {}",
                                      given[last].row->name, given[last].text, others);
}

/// The last model is checked later, when the dataset is known.
void check_overridden_models(const std::vector<GivenFlag>& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].row->name == "model" && is_overridden(given, i) &&
        listed_model_name(given[i].text).empty()) {
      refuse_at(given[i].origin, unknown_model(given[i].text).what());
    }
  }
}

/// Reports invalid combinations and refused values in one message. If a value is refused, omits
/// what the flags require.
void check_what_is_asked(const Flags& flags, const BatchRequest& batch,
                         const std::vector<GivenFlag>& given, const TypedFlags& typed) {
  std::string conflict;
  bool lacks = false;
  try {
    validate(flags, batch);
  } catch (const MissingFlag& error) {
    conflict = error.what();
    lacks = true;
  } catch (const UsageError& error) {
    conflict = error.what();
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (is_overridden(given, i)) {
      continue;
    }
    try {
      check_support(given[i], typed.values[i]);
    } catch (const UsageError& error) {
      if (!conflict.empty() && !lacks) {
        throw UsageError(fmt::format("{}. Also: {}", conflict, error.what()));
      }
      refuse_at(given[i].origin, error.what());
    }
  }
  if (!conflict.empty()) {
    throw UsageError(conflict);
  }
}

/// The defaults of a measurement of latency, for flags that were not given.
void set_latency_defaults(ParseResult& result) {
  constexpr std::int64_t kInferences = 1000;
  Flags& flags = result.flags;
  const auto given = [&](const char* name) { return result.given.contains(name); };
  if (!flags.latency) {
    return;
  }
  std::string set;
  if (!given("forward_only") && !flags.eval) {
    flags.forward_only = true;
    set += " --forward_only";
  }
  if (!given("freeze_when_forward_only")) {
    flags.freeze_when_forward_only = true;
    set += " --freeze_when_forward_only";
  }
  if (result.batch.rule == BatchRequest::Rule::model) {
    flags.batch_size = "1";
    result.batch = read_batch_request(flags.batch_size);
    set += " --batch_size=1";
  }
  if (!flags.num_batches && !flags.num_epochs) {
    flags.num_batches = kInferences;
    set += fmt::format(" --num_batches={}", kInferences);
  }
  if (!set.empty()) {
    result.notices.push_back(fmt::format("--latency also sets{}", set));
  }
}

}  // namespace

ParseResult parse_flags(std::span<const std::string_view> arguments) {
  ExpandedArguments expanded = expand_flag_files(arguments);
  auto [given, notices] = read_arguments(expanded.arguments);
  ParseResult result;
  result.flag_files = std::move(expanded.files);
  result.notices = std::move(notices);
  for (GivenFlag& flag : given) {
    result.given.insert_or_assign(std::string(flag.row->name), flag.text);
    naming_origin(flag, [&] {
      flag.text = accepted_text(*flag.row, flag.text);
      if (flag.row->name == "batch_size") {
        result.batch = read_batch_request(flag.text);
      }
    });
  }
  TypedFlags typed = type_flags(given);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const FlagRow& row = *given[i].row;
    naming_origin(given[i], [&] { check_bounds(given[i], typed.values[i]); });
    if (row.name == "help") {
      result.help_topic = given[i].text;
    }
    const bool asked = typed.values[i].text == "true" && !is_overridden(given, i);
    result.version_asked |= asked && row.name == "version";
    result.models_asked |= asked && row.name == "list_models";
    result.variables_asked |= asked && row.name == "list_variables";
  }
  result.flags = std::move(typed.flags);
  if (result.help_topic || result.version_asked || result.models_asked) {
    return result;
  }
  if (result.flags.num_batches == 0) {
    result.flags.num_batches.reset();
  }
  set_latency_defaults(result);
  if (const auto listed = listed_model_name(result.flags.model); !listed.empty()) {
    result.flags.model = listed;
  }
  check_overridden_models(given);
  check_what_is_asked(result.flags, result.batch, given, typed);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (is_overridden(given, i)) {
      continue;
    }
    const FlagRow& row = *given[i].row;
    if (const std::string notice = overridden_notice(given, typed, i); !notice.empty()) {
      result.notices.push_back(notice);
    }
    if (const std::string notice = notice_of(row.support); !notice.empty()) {
      result.notices.push_back(fmt::format("--{}: {}", row.name, notice));
    }
  }
  return result;
}

ParseResult parse_flags(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + std::min(argc, 1), argv + argc);
  return parse_flags(arguments);
}

}  // namespace bench
