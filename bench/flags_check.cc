#include "bench/flags_check.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "bench/flags_near.h"
#include "models/base/errors.h"

namespace bench {
namespace {

bool equal_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::string enumerated_text(const FlagRow& row, const std::string& text) {
  const std::vector<std::string_view> values = split_words(row.accepted.values);
  for (const std::string_view value : values) {
    if (text == value || (row.accepted.any_case && equal_in_any_case(text, value))) {
      return std::string(value);
    }
  }
  throw unknown_value(row.name, text, values);
}

// How a user writes the flag with this value.
std::string written(const FlagRow& row, std::string_view value) {
  if (row.type == FlagType::kBool) {
    return cat(value == "false" ? "--no" : "--", row.name);
  }
  return cat("--", row.name, "=", value);
}

// What to write instead of a value that is refused.
std::string advice(const FlagRow& row) {
  if (row.support.extent == FlagSupport::Extent::kListed) {
    return cat("; built are ", join(split_words(row.support.listed)));
  }
  if (!row.default_text || row.default_text->empty()) {
    return "; leave it out";
  }
  return cat("; accepted is ", written(row, *row.default_text));
}

}  // namespace

std::string accepted_text(const FlagRow& row, const std::string& text) {
  if (row.accepted.not_empty && text.empty()) {
    throw UsageError(cat("--", row.name, " is empty: accepted is ", describe_accepted(row)));
  }
  if (row.accepted.values.empty() || (row.accepted.empty_too && text.empty())) {
    return text;
  }
  if (row.type != FlagType::kList) {
    return enumerated_text(row, text);
  }
  std::string list;
  for (const std::string& element : split_text(text, ',')) {
    list += cat(list.empty() ? "" : ",", enumerated_text(row, element));
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
  if (!std::isfinite(number) || too_low || too_high) {
    throw UsageError(cat("--", row.name, "=", flag.text, ": accepted is ", describe_accepted(row)));
  }
}

void check_support(const GivenFlag& flag, const TypedValue& value) {
  const FlagRow& row = *flag.row;
  const FlagSupport& support = row.support;
  if (support.extent == FlagSupport::Extent::kAll || value.is_default) {
    return;
  }
  if (support.extent == FlagSupport::Extent::kListed) {
    const std::vector<std::string_view> listed = split_words(support.listed);
    if (std::find(listed.begin(), listed.end(), value.text) != listed.end()) {
      return;
    }
  }
  const std::string& text = row.type == FlagType::kBool ? value.text : flag.text;
  throw UsageError(cat(written(row, text), ": ", refusal_of(support), advice(row)));
}

}  // namespace bench
