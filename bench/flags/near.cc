#include "bench/flags/near.h"

#include <algorithm>
#include <cctype>

#include "bench/flags/file.h"
#include "bench/flags/hints.h"
#include "models/base/near_names.h"
#include "models/base/text.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

std::string without_separators(std::string_view name) {
  std::string letters(name);
  for (char& letter : letters) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  std::erase_if(letters, [](char letter) { return letter == '_' || letter == '-'; });
  return letters;
}

// The enumerated value that differs only in separators, else similar values.
std::vector<std::string_view> near_values(const FlagRow& row, std::string_view given) {
  const std::vector<std::string_view> values = split_words(row.accepted.values);
  for (const std::string_view value : values) {
    if (without_separators(value) == without_separators(given)) {
      return {value};
    }
  }
  return near_names(given, values);
}

}  // namespace

UsageError unknown_value(const FlagRow& row, std::string_view given) {
  std::vector<std::string_view> near{value_meant_by(row.name, given)};
  if (near.front().empty()) {
    near = near_values(row, given);
  }
  std::erase_if(near, [&](std::string_view value) { return !is_taken(row, value); });
  std::string other_way;
  if (const std::string_view model = model_meant_by(given);
      !model.empty() && !row.accepted.bare.empty()) {
    other_way = fmt::format("--model={} --{}", model, row.name);
    near.assign(1, other_way);
  }
  const std::string asked = did_you_mean(near, "");
  if (!row.accepted.file_too.empty()) {
    return UsageError(
        fmt::format("--{}={}: unknown value; accepted: an existing file, or one of {}{}", row.name,
                    given, join(split_words(row.accepted.values)), asked));
  }
  return UsageError(fmt::format("--{}={}: unknown value; accepted: {}{}", row.name, given,
                                describe_values(row), asked));
}

UsageError unknown_value(std::string_view flag, std::string_view given,
                         std::span<const std::string_view> accepted, std::string_view listed_by) {
  const std::string asked = did_you_mean(near_names(given, accepted), "");
  if (asked.empty()) {
    return UsageError(
        fmt::format("--{}={}: unknown value; --{} lists all", flag, given, listed_by));
  }
  return UsageError(
      fmt::format("--{}={}: unknown value{} --{} lists all", flag, given, asked, listed_by));
}

UsageError unknown_model(std::string_view given) {
  std::vector<std::string_view> names;
  for (const Model& model : all_models()) {
    // One name may occur in several datasets.
    if (std::find(names.begin(), names.end(), model.name) == names.end()) {
      names.push_back(model.name);
    }
  }
  return unknown_value("model", given, names, "list_models");
}

std::string_view model_meant_by(std::string_view word) {
  for (const Model& model : all_models()) {
    if (without_separators(model.name) == without_separators(word)) {
      return model.name;
    }
  }
  return "";
}

UsageError unknown_flag(std::string_view given) {
  std::string name(without_dashes(given));
  std::replace(name.begin(), name.end(), '-', '_');
  if (const auto meant = flags_meant_by(name); !meant.empty()) {
    return UsageError(fmt::format("{}: unknown flag{}", given, did_you_mean(meant, "")));
  }
  if (const std::string_view why = why_no_flag(name); !why.empty()) {
    return UsageError(fmt::format("{}: unknown flag; {}", given, why));
  }
  if (const std::string_view model = model_meant_by(name); !model.empty()) {
    return UsageError(fmt::format("{}: unknown flag; did you mean --model={}?", given, model));
  }
  std::vector<std::string> negated;
  for (const FlagRow& row : flag_table()) {
    if (row.type == FlagType::kBool) {
      negated.push_back(fmt::format("no{}", row.name));
    }
  }
  std::vector<std::string_view> names;
  for (const FlagRow& row : flag_table()) {
    names.push_back(row.name);
  }
  if (name.starts_with("no")) {
    names.insert(names.end(), negated.begin(), negated.end());
  }
  const std::string asked = did_you_mean(near_names(name, names), "--");
  if (asked.empty()) {
    return UsageError(fmt::format("{}: unknown flag; --help=all lists all flags", given));
  }
  return UsageError(fmt::format("{}: unknown flag{}", given, asked));
}

}  // namespace bench
