#include "bench/flags/batch_request.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "bench/flags/table.h"
#include "models/base/errors.h"

namespace bench {
namespace {

/// Parses all of `text` as a whole number from `least` to kLargestBatch; else returns nullopt.
std::optional<std::int64_t> number_in(std::string_view text, std::int64_t least) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || read != end || number < least || number > kLargestBatch) {
    return std::nullopt;
  }
  return number;
}

UsageError refusal_of_item(const std::string& text, const std::string& item) {
  if (item == "auto" || item == "max") {
    return UsageError(fmt::format("--batch_size={}: a list cannot contain {}", text, item));
  }
  if (item.empty()) {
    return UsageError(fmt::format(
        "--batch_size={}: the list has an empty item; expected whole numbers from 1 to {}", text,
        kLargestBatch));
  }
  return UsageError(fmt::format(
      "--batch_size={}: '{}' is not a batch size; expected a list of whole numbers from 1 to {}",
      text, item, kLargestBatch));
}

std::vector<std::int64_t> read_list(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& item : split_text(text, ',')) {
    const auto size = number_in(item, 1);
    if (!size) {
      throw refusal_of_item(text, item);
    }
    if (std::find(sizes.begin(), sizes.end(), *size) != sizes.end()) {
      throw UsageError(fmt::format("--batch_size={}: {} is listed more than once", text, *size));
    }
    sizes.push_back(*size);
  }
  return sizes;
}

}  // namespace

BatchRequest read_batch_request(const std::string& text) {
  if (text == "auto") {
    return {.rule = BatchRequest::Rule::fastest};
  }
  if (text == "max") {
    return {.rule = BatchRequest::Rule::largest};
  }
  if (text.find(',') != std::string::npos) {
    return {.rule = BatchRequest::Rule::list, .sizes = read_list(text)};
  }
  const auto size = number_in(text, 0);
  if (!size) {
    throw UsageError(fmt::format("--batch_size={}: expected {}", text,
                                 describe_accepted(*find_flag("batch_size"))));
  }
  if (*size == 0) {
    return {.rule = BatchRequest::Rule::model};
  }
  return {.rule = BatchRequest::Rule::given, .sizes = {*size}};
}

std::string_view name_of(BatchRequest::Rule rule) {
  switch (rule) {
    case BatchRequest::Rule::model:
      return "default";
    case BatchRequest::Rule::given:
      return "given";
    case BatchRequest::Rule::list:
      return "list";
    case BatchRequest::Rule::fastest:
      return "auto";
    case BatchRequest::Rule::largest:
      return "max";
  }
  throw InternalError("a rule without a name");
}

}  // namespace bench
