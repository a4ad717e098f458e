#include "models/base/command_line.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iomanip>
#include <ostream>

#include "models/base/errors.h"
#include "models/base/near_names.h"

namespace bench {
namespace {

bool equal_names(std::string_view a, std::string_view b) {
  const auto dashed = [](char letter) { return letter == '_' ? '-' : letter; };
  return std::ranges::equal(a, b, {}, dashed, dashed);
}

std::vector<std::string_view> accepted_values(const Option& option) {
  std::vector<std::string_view> values;
  for (std::string_view rest = option.accepted; !rest.empty();) {
    values.push_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(values.back().size() + 1, rest.size()));
  }
  return values;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool valid = error == std::errc() && end == text.data() + text.size();
  return valid ? std::optional(value) : std::nullopt;
}

std::string spelling(const Option& option) {
  const std::string name = option.value.empty() ? fmt::format("--{}", option.name)
                                                : fmt::format("--{}={}", option.name, option.value);
  return option.letter == 0 ? name : fmt::format("-{}, {}", option.letter, name);
}

std::string meaning(const Option& option) {
  std::string text(option.meaning);
  if (!option.accepted.empty()) {
    text += fmt::format(" ({})", fmt::join(accepted_values(option), ", "));
  }
  if (!option.fallback.empty()) {
    text += fmt::format("; default {}", option.fallback);
  }
  return text;
}

/// True for -key:value, a negated term of a filter, unless an option has the key's first letter.
bool is_negated_term(std::span<const Option> options, std::string_view word) {
  constexpr std::size_t kShortestKey = 2;
  const std::size_t colon = word.find(':');
  return colon != std::string_view::npos && colon > kShortestKey && !word.starts_with("--") &&
         find_option(options, word).option == nullptr;
}

/// `text` in lines of at most 78 letters, each but the first indented by `indent` spaces.
void print_wrapped(std::ostream& out, std::string_view text, std::size_t indent) {
  constexpr std::size_t kWidth = 78;
  const std::size_t room = kWidth - indent;
  while (text.size() > room) {
    const std::size_t space = text.rfind(' ', room);
    const std::size_t cut = space == std::string_view::npos || space == 0 ? room : space;
    out << text.substr(0, cut) << "\n" << std::string(indent, ' ');
    text.remove_prefix(std::min(text.size(), cut + (cut == space ? 1 : 0)));
  }
  out << text << "\n";
}

}  // namespace

OptionWord find_option(std::span<const Option> options, std::string_view word) {
  const bool is_long = word.starts_with("--");
  const std::size_t end = is_long ? std::min(word.find('='), word.size()) : 2;
  OptionWord named;
  for (const Option& option : options) {
    if (is_long ? equal_names(option.name, word.substr(2, end - 2)) : option.letter == word[1]) {
      named.option = &option;
    }
  }
  if (end < word.size()) {
    named.value = word.substr(is_long ? end + 1 : end);
  }
  return named;
}

void print_options(std::ostream& out, std::span<const Option> options) {
  std::size_t width = 0;
  for (const Option& option : options) {
    width = std::max(width, spelling(option).size());
  }
  for (const Option& option : options) {
    out << "  " << std::left << std::setw(static_cast<int>(width)) << spelling(option) << "  ";
    print_wrapped(out, meaning(option), width + 4);
  }
}

Arguments::Arguments(std::string_view program, std::span<const Option> options,
                     std::span<const std::string> words)
    : program_(program), options_(options) {
  bool only_operands = false;
  for (std::size_t i = 0; i < words.size() && !help_; ++i) {
    const std::string& word = words[i];
    if (only_operands || word.size() < 2 || word.front() != '-' ||
        is_negated_term(options_, word)) {
      operands_.push_back(word);
    } else if (word == "--") {
      only_operands = true;
    } else if (word == "--help" || word == "-h") {
      help_ = true;
    } else {
      OptionWord given = find_option(options_, word);
      if (given.uses_next_word() && i + 1 < words.size()) {
        given.value = words[++i];
      }
      take(given, word);
    }
  }
}

void Arguments::take(const OptionWord& given, const std::string& word) {
  if (given.option == nullptr) {
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string_view> names;
    for (const Option& option : options_) {
      names.push_back(option.name);
    }
    names.emplace_back("help");
    const std::string hint =
        name.starts_with("--") ? did_you_mean(near_names(name.substr(2), names), "--") : "";
    throw UsageError(fmt::format(
        "{}: unknown option{}", word,
        hint.empty() ? fmt::format("; {} accepts --{}", program_, fmt::join(names, ", --"))
                     : hint));
  }
  const Option& option = *given.option;
  std::vector<std::string>& values = values_[std::string(option.name)];
  if (option.value.empty()) {
    if (given.value) {
      throw UsageError(
          fmt::format("--{} takes no value, but was given '{}'", option.name, *given.value));
    }
    values.assign(1, "");
    return;
  }
  if (!given.value) {
    throw UsageError(fmt::format("--{} needs a value: {}", option.name, option.value));
  }
  const std::string& value = *given.value;
  const std::vector<std::string_view> accepted = accepted_values(option);
  if (!accepted.empty() && std::find(accepted.begin(), accepted.end(), value) == accepted.end()) {
    throw UsageError(fmt::format("--{}={}: unknown value; accepted: {}{}", option.name, value,
                                 fmt::join(accepted, ", "),
                                 did_you_mean(near_names(value, accepted))));
  }
  if (!option.repeatable && !values.empty()) {
    throw UsageError(
        fmt::format("--{} was given twice: '{}' and '{}'", option.name, values.front(), value));
  }
  values.push_back(value);
}

void Arguments::refuse_operands() const {
  if (!operands_.empty()) {
    throw UsageError(fmt::format("unexpected operand '{}'; {} accepts only options",
                                 operands_.front(), program_));
  }
}

const Option& Arguments::row(std::string_view name) const {
  const Option* const found = find_option(options_, fmt::format("--{}", name)).option;
  check(found != nullptr, fmt::format("{} has no option --{}", program_, name));
  return *found;
}

bool Arguments::has(std::string_view option) const { return values_.contains(row(option).name); }

std::optional<std::string> Arguments::given(std::string_view option) const {
  const Option& asked = row(option);
  if (const auto found = values_.find(asked.name); found != values_.end()) {
    return found->second.back();
  }
  return asked.fallback.empty() ? std::nullopt : std::optional<std::string>(asked.fallback);
}

std::string Arguments::text(std::string_view option) const { return given(option).value_or(""); }

std::vector<std::string> Arguments::all(std::string_view option) const {
  const auto found = values_.find(row(option).name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::vector<std::string> Arguments::names(std::string_view option) const {
  std::vector<std::string> names;
  for (const std::string& list : all(option)) {
    std::size_t from = 0;
    while (from <= list.size()) {
      const std::size_t comma = std::min(list.find(',', from), list.size());
      names.push_back(list.substr(from, comma - from));
      if (names.back().empty()) {
        throw UsageError(fmt::format("--{}={}: a name is missing; separate several names by commas",
                                     option, list));
      }
      from = comma + 1;
    }
  }
  return names;
}

void Arguments::refuse(std::string_view option, std::string_view kind) const {
  throw UsageError(fmt::format("--{}={}: not {}", option, text(option), kind));
}

std::int64_t Arguments::integer(std::string_view option, std::int64_t least,
                                std::int64_t most) const {
  const auto value = parse_number<std::int64_t>(text(option));
  if (!value || *value < least || *value > most) {
    refuse(option, most == std::numeric_limits<std::int64_t>::max()
                       ? fmt::format("an integer of at least {}", least)
                       : fmt::format("an integer from {} to {}", least, most));
  }
  return *value;
}

double Arguments::number(std::string_view option, double least, double most) const {
  const auto value = parse_number<double>(text(option));
  const bool is_within = value && *value >= least && *value <= most;  // False for NaN.
  if (!is_within) {
    refuse(option, fmt::format("a number from {:g} to {:g}", least, most));
  }
  return *value;
}

double Arguments::share(std::string_view option) const {
  constexpr double kPerCent = 100;
  std::string given = text(option);
  const bool per_cent = given.ends_with('%');
  if (per_cent) {
    given.pop_back();
  }
  const double value = parse_number<double>(given).value_or(-1) / (per_cent ? kPerCent : 1);
  const bool is_share = value >= 0 && value < 1;  // False for NaN.
  if (!is_share) {
    refuse(option, "a fraction from 0 to below 100 %, such as 1% or 0.01");
  }
  return value;
}

}  // namespace bench
