#include "pipeline/bad_records.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <system_error>

namespace bench {
namespace {

constexpr std::int64_t kFewestImages = 1000;

struct ReasonText {
  std::string_view one;
  std::string_view several;
};
constexpr std::array<ReasonText, kBadRecordReasons> kReasons = {{
    {.one = "unreadable", .several = "unreadable"},
    {.one = "wrong checksum", .several = "wrong checksums"},
    {.one = "malformed Example", .several = "malformed Examples"},
    {.one = "label out of range", .several = "labels out of range"},
    {.one = "undecodable image", .several = "undecodable images"},
}};

template <class T>
std::optional<T> number_from(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

}  // namespace

std::int64_t BadRecordLimit::accepted(std::int64_t images) const {
  if (!is_share) {
    return count;
  }
  return static_cast<std::int64_t>(
      std::floor(share * static_cast<double>(std::max(images, kFewestImages))));
}

std::string BadRecordLimit::text() const {
  return is_share ? fmt::format("{:g}%", 100 * share) : fmt::format("{}", count);
}

BadRecordLimit bad_record_limit_from(std::string_view text) {
  if (text.ends_with('%')) {
    const auto percent = number_from<double>(text.substr(0, text.size() - 1));
    if (percent && *percent >= 0 && *percent <= 100) {
      return {.count = 0, .share = *percent / 100, .is_share = true};
    }
  } else if (const auto count = number_from<std::int64_t>(text); count && *count >= 0) {
    return {.count = *count, .share = 0, .is_share = false};
  }
  throw UsageError(fmt::format(
      "--max_bad_records={}: expected a whole number from 0, or a share from 0% to 100%", text));
}

void BadRecordCounts::add(const BadRecordError& error) {
  if (total() == 0) {
    first = error.what();
  }
  by_reason.at(static_cast<std::size_t>(error.reason())) += error.records();
}

std::int64_t BadRecordCounts::total() const {
  return std::accumulate(by_reason.begin(), by_reason.end(), std::int64_t{0});
}

std::string describe(const BadRecordCounts& counts) {
  std::string reasons;
  for (std::size_t i = 0; i < kBadRecordReasons; ++i) {
    if (const std::int64_t count = counts.by_reason.at(i); count > 0) {
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count,
                             count == 1 ? kReasons.at(i).one : kReasons.at(i).several);
    }
  }
  const std::int64_t total = counts.total();
  return fmt::format("{} bad record{} ({}); the first: {}", total, total == 1 ? "" : "s", reasons,
                     counts.first);
}

}  // namespace bench
