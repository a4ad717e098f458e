#include "bench/flags/check.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "bench/flags/near.h"
#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {
namespace {

std::string enumerated_text(const FlagRow& row, const std::string& text) {
  for (const std::string_view value : split_words(row.accepted.values)) {
    if (equal_in_any_case(text, value)) {
      return std::string(value);
    }
  }
  for (const Synonym& synonym : synonyms_of(row.accepted)) {
    if (equal_in_any_case(text, synonym.word)) {
      return std::string(synonym.value);
    }
  }
  std::error_code error;
  if (!row.accepted.file_too.empty() && std::filesystem::exists(text, error)) {
    return text;
  }
  throw unknown_value(row, text);
}

std::int64_t number_or(std::optional<double> bound, std::int64_t otherwise) {
  return bound ? static_cast<std::int64_t>(*bound) : otherwise;
}

UsageError bad_number(const FlagRow& row, const std::string& text) {
  return UsageError(fmt::format("--{}={}: expected {}", row.name, text, describe_accepted(row)));
}

// gflags also accepts leading blanks, hexadecimal numbers, and names of non-finite values.
void check_number_form(const FlagRow& row, const std::string& text) {
  const bool whole = row.type == FlagType::kInt64;
  const std::string_view letters = whole ? "0123456789+-" : "0123456789+-.eE";
  if (text.empty() || text.find_first_not_of(letters) != std::string::npos) {
    throw bad_number(row, text);
  }
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  double real = 0;
  const auto [read, error] =
      whole ? std::from_chars(begin, end, integer) : std::from_chars(begin, end, real);
  if (error == std::errc::invalid_argument || read != end) {
    throw bad_number(row, text);
  }
  if (error == std::errc::result_out_of_range) {
    using Limits = std::numeric_limits<std::int64_t>;
    const std::string accepted = whole ? fmt::format("a whole number from {} to {}",
                                                     number_or(row.accepted.minimum, Limits::min()),
                                                     number_or(row.accepted.maximum, Limits::max()))
                                       : describe_accepted(row);
    throw UsageError(
        fmt::format("--{}={}: outside the 64-bit range; expected {}", row.name, text, accepted));
  }
}

// The flag and its value as a user writes them.
std::string written(const FlagRow& row, std::string_view value) {
  if (row.type == FlagType::kBool) {
    return fmt::format("--{}{}", value == "false" ? "no" : "", row.name);
  }
  return fmt::format("--{}={}", row.name, value);
}

// Suggests what to write instead of a refused value.
std::string advice(const FlagRow& row) {
  if (!row.default_text || row.default_text->empty()) {
    return "omit it";
  }
  return fmt::format("only {} is accepted", written(row, *row.default_text));
}

}  // namespace

std::string accepted_text(const FlagRow& row, const std::string& text) {
  if (row.type == FlagType::kInt64 || row.type == FlagType::kDouble) {
    check_number_form(row, text);
  }
  if (row.accepted.not_empty && text.empty()) {
    throw UsageError(fmt::format("--{} is empty: expected {}", row.name, describe_accepted(row)));
  }
  if (row.accepted.values.empty() || (row.accepted.empty_too && text.empty())) {
    return text;
  }
  if (row.type != FlagType::kList) {
    return enumerated_text(row, text);
  }
  std::string list;
  for (const std::string& element : split_text(text, ',')) {
    list += list.empty() ? "" : ",";
    list += enumerated_text(row, element);
  }
  return list;
}

void check_bounds(const GivenFlag& flag, const TypedValue& value) {
  const FlagRow& row = *flag.row;
  if (row.type != FlagType::kInt64 && row.type != FlagType::kDouble) {
    return;
  }
  const Accepted& accepted = row.accepted;
  const double number = std::strtod(value.text.c_str(), nullptr);
  const bool too_low = accepted.minimum && (accepted.minimum_excluded ? number <= *accepted.minimum
                                                                      : number < *accepted.minimum);
  const bool too_high =
      accepted.maximum &&
      (accepted.maximum_excluded ? number >= *accepted.maximum : number > *accepted.maximum);
  if (too_low || too_high) {
    throw bad_number(row, flag.text);
  }
}

void check_support(const GivenFlag& flag, const TypedValue& value) {
  const FlagRow& row = *flag.row;
  const FlagSupport& support = row.support;
  if (!support.refuses() || value.is_default || value.text == support.idle_value) {
    return;
  }
  const std::string& text = row.type == FlagType::kBool ? value.text : flag.text;
  throw UsageError(fmt::format("{}: {}; {}", written(row, text), refusal_of(support), advice(row)));
}

}  // namespace bench
