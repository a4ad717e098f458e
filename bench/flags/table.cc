#include "bench/flags/table.h"

#include <algorithm>
#include <array>

#include "models/base/errors.h"

namespace bench {
namespace {

// The values of the table's columns `group`, `verdict`, `effect`, `accepted` and `support`.
using enum FlagGroup;
using enum FlagVerdict;
using enum FlagEffect;

// The names in other tables, separated by blanks.
#define BENCH_OPTIMIZER(rule, name, ...) name " "
constexpr std::string_view kOptimizers =
#include "kernels/optimizers.inc"
    ;
#undef BENCH_OPTIMIZER
#define BENCH_DATASET(name, ...) name " "
#define BENCH_SYNTHETIC_DATASET(name, ...) name " "
constexpr std::string_view kDatasets =
#include "pipeline/datasets/datasets.inc"
    ;
#undef BENCH_DATASET
#undef BENCH_SYNTHETIC_DATASET
#define BENCH_STRATEGY(name, ...) name " "
constexpr std::string_view kStrategies =
#include "variable_mgmt/strategies/strategies.inc"
    ;
#undef BENCH_STRATEGY

constexpr Accepted anything() { return {}; }
constexpr Accepted non_empty() { return {.not_empty = true}; }
constexpr Accepted batch_sizes() {
  return {.not_empty = true,
          .words = "0, a batch size from 1 to 1073741824, a list such as 8,16,32, auto, or max"};
}
constexpr Accepted in_words(std::string_view words) { return {.not_empty = true, .words = words}; }
constexpr Accepted one_of(std::string_view values) { return {.values = values}; }
constexpr Accepted at_least(double minimum) { return {.minimum = minimum}; }
constexpr Accepted above(double minimum) { return {.minimum = minimum, .minimum_excluded = true}; }
constexpr Accepted between(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum};
}
constexpr Accepted from_to_below(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .maximum_excluded = true};
}

constexpr FlagSupport built() { return {}; }
constexpr FlagSupport ignored(std::string_view why) { return built().without_effect(why); }
constexpr FlagSupport refused(std::string_view why) { return {.not_applicable = why}; }

// A default from the table without the quotes of a string literal.
constexpr std::string_view unquoted(std::string_view literal) {
  if (literal.size() >= 2 && literal.front() == '"') {
    return literal.substr(1, literal.size() - 2);
  }
  return literal;
}

constexpr FlagType kType_bool = FlagType::kBool;
constexpr FlagType kType_int64 = FlagType::kInt64;
constexpr FlagType kType_double = FlagType::kDouble;
constexpr FlagType kType_string = FlagType::kString;

#define BENCH_FLAG(type, name, value, ...) \
  FlagRow{kType_##type, #name, unquoted(#value), __VA_ARGS__},
#define BENCH_FLAG_UNSET(type, name, ...) FlagRow{kType_##type, #name, std::nullopt, __VA_ARGS__},
#define BENCH_FLAG_LIST(name, ...) FlagRow{FlagType::kList, #name, "", __VA_ARGS__},
#define BENCH_FLAG_SWITCH(name, ...) FlagRow{FlagType::kBool, #name, "false", __VA_ARGS__},
#define BENCH_FLAG_PARSER(name, ...) \
  FlagRow{FlagType::kString, #name, std::nullopt, __VA_ARGS__, true},
constexpr auto kTable = std::to_array<FlagRow>({
#include "bench/flags/table.inc"
});
#undef BENCH_FLAG
#undef BENCH_FLAG_UNSET
#undef BENCH_FLAG_LIST
#undef BENCH_FLAG_SWITCH
#undef BENCH_FLAG_PARSER

// 4 as "4", 1073741824 as "1073741824", 0.5 as "0.5".
std::string number_text(double number) { return fmt::format("{:.15g}", number); }

std::string or_file_of(const Accepted& accepted) {
  return accepted.file_too.empty() ? "" : fmt::format("; or {}", accepted.file_too);
}

}  // namespace

std::span<const FlagRow> flag_table() { return kTable; }

const FlagRow* find_flag(std::string_view name) {
  const auto row = std::find_if(kTable.begin(), kTable.end(),
                                [&](const FlagRow& candidate) { return candidate.name == name; });
  return row == kTable.end() ? nullptr : &*row;
}

std::span<const FlagGroup> flag_groups() {
  static constexpr std::array kGroups = {kRun,       kData,        kLearning, kFp16,
                                         kVariables, kPerformance, kOutput,   kOwn};
  return kGroups;
}

std::string_view word_of(FlagGroup group) {
  switch (group) {
    case kRun:
      return "run";
    case kData:
      return "data";
    case kLearning:
      return "learning";
    case kFp16:
      return "fp16";
    case kVariables:
      return "variables";
    case kPerformance:
      return "performance";
    case kOutput:
      return "output";
    case kOwn:
      return "own";
  }
  return "";
}

bool works(const FlagRow& row) { return !row.support.refuses() && row.support.no_effect.empty(); }

std::string_view title_of(FlagGroup group) {
  switch (group) {
    case kRun:
      return "What to run";
    case kData:
      return "Data";
    case kLearning:
      return "Learning rate and optimizer";
    case kFp16:
      return "Half precision";
    case kVariables:
      return "Variables, reduction, cluster";
    case kPerformance:
      return "Performance";
    case kOutput:
      return "Output, traces, checkpoints";
    case kOwn:
      return "Beyond tf_cnn_benchmarks";
  }
  return "";
}

std::vector<Synonym> synonyms_of(const Accepted& accepted) {
  std::vector<Synonym> synonyms;
  for (const std::string_view pair : split_words(accepted.synonyms)) {
    const std::size_t equals = pair.find('=');
    synonyms.push_back({.word = pair.substr(0, equals), .value = pair.substr(equals + 1)});
  }
  return synonyms;
}

std::string describe_bounds(const Accepted& accepted) {
  if (accepted.minimum && accepted.maximum) {
    const std::string minimum = number_text(*accepted.minimum);
    const std::string maximum = number_text(*accepted.maximum);
    return accepted.maximum_excluded ? fmt::format("from {} to below {}", minimum, maximum)
                                     : fmt::format("from {} to {}", minimum, maximum);
  }
  if (accepted.minimum) {
    const std::string minimum = number_text(*accepted.minimum);
    return accepted.minimum_excluded ? fmt::format("above {}", minimum)
                                     : fmt::format("at least {}", minimum);
  }
  return "";
}

namespace {

/// "a number" with its bounds: "a number of at least 1", "a number from 0 to 1".
std::string bounded(std::string_view number, const Accepted& accepted) {
  const std::string bounds = describe_bounds(accepted);
  if (bounds.empty()) {
    return std::string(number);
  }
  return bounds.starts_with("at least") ? fmt::format("{} of {}", number, bounds)
                                        : fmt::format("{} {}", number, bounds);
}

}  // namespace

std::string describe_accepted(const FlagRow& row) {
  const Accepted& accepted = row.accepted;
  if (!accepted.words.empty()) {
    return std::string(accepted.words);
  }
  if (!accepted.values.empty()) {
    const std::string values = join(split_words(accepted.values)) + or_file_of(accepted);
    return row.type == FlagType::kList ? fmt::format("a comma-separated list of {}", values)
                                       : fmt::format("one of {}", values);
  }
  switch (row.type) {
    case FlagType::kBool:
      return "true or false";
    case FlagType::kInt64:
      return bounded("a whole number", accepted);
    case FlagType::kDouble:
      return bounded("a number", accepted);
    case FlagType::kString:
      return accepted.not_empty ? "a non-empty string" : "a string";
    case FlagType::kList:
      return "a comma-separated list";
  }
  return "";
}

bool is_taken(const FlagRow& row, std::string_view value) {
  return !row.support.refuses() || value == row.default_text;
}

std::string describe_values(const FlagRow& row) {
  std::vector<std::string_view> taken;
  std::vector<std::string_view> refused;
  for (const std::string_view value : split_words(row.accepted.values)) {
    (is_taken(row, value) ? taken : refused).push_back(value);
  }
  if (refused.empty()) {
    return join(taken) + or_file_of(row.accepted);
  }
  return fmt::format("{} (not applicable: {})", taken.empty() ? "none" : join(taken),
                     join(refused));
}

std::string refusal_of(const FlagSupport& support) {
  return fmt::format("not applicable: {}", support.not_applicable);
}

std::string notice_of(const FlagSupport& support) {
  return support.no_effect.empty() ? std::string(support.notice)
                                   : fmt::format("no effect: {}", support.no_effect);
}

std::vector<std::string_view> split_words(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) {
      words.push_back(list.substr(0, end));
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) {
    return parts;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string join(std::span<const std::string_view> parts) {
  std::string joined;
  for (const std::string_view part : parts) {
    joined += joined.empty() ? "" : ", ";
    joined += part;
  }
  return joined;
}

}  // namespace bench
