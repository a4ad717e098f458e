#include "results/tool/arguments.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "models/base/errors.h"
#include "models/base/near_names.h"

namespace bench::results {
namespace {

bool is_accepted(const Option& option, const std::string& value) {
  std::istringstream words{std::string(option.accepted)};
  for (std::string word; words >> word;) {
    if (word == value) {
      return true;
    }
  }
  return option.accepted.empty();
}

std::string comma_list(std::string_view words) {
  std::string list(words);
  for (std::size_t at = 0; (at = list.find(' ', at)) != std::string::npos; at += 2) {
    list.replace(at, 1, ", ");
  }
  return list;
}

}  // namespace

Arguments::Arguments(std::string_view command, std::span<const Option> options,
                     std::span<const std::string> words)
    : command_(command), options_(options) {
  bool only_operands = false;
  while (!words.empty()) {
    const std::string& word = words.front();
    words = words.subspan(1);
    if (only_operands || word.size() < 2 || word.front() != '-') {
      operands_.push_back(word);
    } else if (word == "--") {
      only_operands = true;
    } else if (word == "--help" || word == "-h") {
      help_ = true;
    } else {
      words = words.subspan(word[1] == '-' ? take_long(word, words) : take_short(word, words));
    }
  }
}

std::size_t Arguments::take_long(const std::string& word, std::span<const std::string> rest) {
  const std::size_t equals = word.find('=');
  std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
  std::replace(name.begin(), name.end(), '_', '-');
  const auto attached = equals == std::string::npos
                            ? std::nullopt
                            : std::optional<std::string>(word.substr(equals + 1));
  for (const Option& option : options_) {
    if (option.name == name) {
      return take(option, "--" + name, attached, rest);
    }
  }
  std::vector<std::string_view> names{"help"};
  for (const Option& option : options_) {
    names.push_back(option.name);
  }
  const std::string suggestion = did_you_mean(near_names(name, names), "--");
  if (suggestion.empty()) refuse_unknown("--" + name);
  throw UsageError(fmt::format("--{}: {} has no such option{}", name, command_, suggestion));
}

std::size_t Arguments::take_short(const std::string& word, std::span<const std::string> rest) {
  for (const Option& option : options_) {
    if (option.letter == word[1]) {
      const auto attached =
          word.size() == 2 ? std::nullopt : std::optional<std::string>(word.substr(2));
      return take(option, word.substr(0, 2), attached, rest);
    }
  }
  refuse_unknown(word);
}

void Arguments::refuse_unknown(const std::string& word) const {
  throw UsageError(fmt::format("{0}: {1} has no such option; bench_results {1} --help lists all",
                               word, command_));
}

std::size_t Arguments::take(const Option& row, const std::string& spelling,
                            const std::optional<std::string>& attached,
                            std::span<const std::string> rest) {
  std::vector<std::string>& values = values_[std::string(row.name)];
  if (row.value.empty()) {
    if (attached) {
      throw UsageError(fmt::format("{} takes no value, but was given '{}'", spelling, *attached));
    }
    values.assign(1, "");
    return 0;
  }
  if (!attached && rest.empty()) {
    throw UsageError(fmt::format("{} needs a value: {}", spelling, row.value));
  }
  const std::string value = attached ? *attached : rest.front();
  if (!is_accepted(row, value)) {
    std::vector<std::string> accepted;
    std::istringstream words{std::string(row.accepted)};
    for (std::string word; words >> word;) {
      accepted.push_back(word);
    }
    const std::vector<std::string_view> views(accepted.begin(), accepted.end());
    throw UsageError(fmt::format("{}={}: unknown value; accepted: {}{}", spelling, value,
                                 comma_list(row.accepted), did_you_mean(near_names(value, views))));
  }
  if (!row.repeatable && !values.empty()) {
    throw UsageError(
        fmt::format("{} was given twice: '{}' and '{}'", spelling, values.front(), value));
  }
  values.push_back(value);
  return attached ? 0 : 1;
}

const Option& Arguments::row(std::string_view name) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& option) { return option.name == name; });
  check(found != options_.end(), fmt::format("{} has no option --{}", command_, name));
  return *found;
}

bool Arguments::has(std::string_view option) const {
  return values_.find(row(option).name) != values_.end();
}

std::optional<std::string> Arguments::given(std::string_view option) const {
  const Option& asked = row(option);
  if (const auto found = values_.find(asked.name); found != values_.end()) {
    return found->second.back();
  }
  return asked.fallback.empty() ? std::nullopt
                                : std::optional<std::string>(std::string(asked.fallback));
}

std::string Arguments::text(std::string_view option) const { return given(option).value_or(""); }

std::vector<std::string> Arguments::all(std::string_view option) const {
  const auto found = values_.find(row(option).name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

double Arguments::parse_number(std::string_view option, std::string_view text,
                               std::string_view kind) const {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UsageError(fmt::format("--{}={}: not a {}", option, this->text(option), kind));
  }
  return value;
}

std::int64_t Arguments::integer(std::string_view option, std::int64_t least) const {
  const std::string given = text(option);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc() || end != given.data() + given.size() || value < least) {
    throw UsageError(fmt::format("--{}={}: not an integer of at least {}", option, given, least));
  }
  return value;
}

double Arguments::number(std::string_view option) const {
  return parse_number(option, text(option), "number");
}

double Arguments::share(std::string_view option) const {
  constexpr double kPerCent = 100;
  constexpr const char* kKind = "fraction from 0 to below 100 %, such as 1% or 0.01";
  std::string given = text(option);
  const bool per_cent = given.ends_with('%');
  if (per_cent) {
    given.pop_back();
  }
  const double value = parse_number(option, given, kKind) / (per_cent ? kPerCent : 1);
  const bool is_share = value >= 0 && value < 1;  // Also false for a value that is not a number.
  if (!is_share) {
    throw UsageError(fmt::format("--{}={}: not a {}", option, text(option), kKind));
  }
  return value;
}

}  // namespace bench::results
