#include "results/store/filter.h"

#include <regex.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "models/base/errors.h"
#include "models/base/near_names.h"
#include "results/store/schema.h"

namespace bench::results {
namespace {

constexpr std::string_view kTag = "tag.";
constexpr std::string_view kMetric = "metric.";

/// SQLite refuses an expression of a thousand parts, and a pattern of 50,000 bytes.
constexpr std::size_t kMostValues = 200;
constexpr std::size_t kLongestValue = 10'000;

/// One of the alternatives of a term.
struct Alternative {
  enum class Kind : std::uint8_t { kWord, kQuoted, kPattern } kind = Kind::kWord;
  std::string text{};
  std::size_t position = 0;
};

struct Key {
  std::string sql{};
  StoredColumn::Type type = StoredColumn::Type::kText;
  /// For times: how a run's start compares with the value.
  std::string_view comparison = "=";
};

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '.' || letter == '-' ||
           letter == '/';
  });
}

std::string unknown_key(std::string_view name) {
  std::vector<std::string_view> names{"since", "until", "tag.NAME", "metric.NAME"};
  for (const StoredColumn& column : stored_columns()) {
    names.push_back(column.name);
  }
  const std::string suggestion = did_you_mean(near_names(name, names));
  if (!suggestion.empty()) return fmt::format("unknown key '{}'{}", name, suggestion);
  return fmt::format("unknown key '{}'; bench_results list --help lists all keys", name);
}

/// A word with * for anything, for SQL's GLOB, which knows more special characters.
std::string glob_of(std::string_view word) {
  std::string glob;
  for (const char letter : word) {
    if (letter == '?' || letter == '[') {
      glob += fmt::format("[{}]", letter);
    } else {
      glob += letter;
    }
  }
  return glob;
}

std::chrono::milliseconds unit_of(char letter) {
  using namespace std::chrono;
  switch (letter) {
    case 'm':
      return minutes(1);
    case 'h':
      return hours(1);
    case 'd':
      return days(1);
    case 'w':
      return weeks(1);
    default:
      return milliseconds(0);
  }
}

/// The times that a text names, in milliseconds since 1970; `end` is one past the last.
struct TimeSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A moment, such as 30d, or a whole day, minute or second.
TimeSpan parse_span(std::string_view text, std::int64_t now_ms) {
  using namespace std::chrono;
  const std::string given(text);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && count >= 0 && end + 1 == text.data() + text.size() &&
      unit_of(*end).count() > 0 && count < (std::int64_t{1} << 31)) {
    const std::int64_t moment = now_ms - count * unit_of(*end).count();
    return {.begin = moment, .end = moment + 1};
  }
  int parsed_year = 0;
  unsigned parsed_month = 0;
  unsigned parsed_day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  int used = 0;
  int date_used = 0;
  int minute_used = 0;
  // NOLINTNEXTLINE(cert-err34-c): %n reports how much was parsed, and the parts are checked.
  std::sscanf(given.c_str(), "%4d-%2u-%2u%nT%2u:%2u%n:%2u%n", &parsed_year, &parsed_month,
              &parsed_day, &date_used, &hour, &minute, &minute_used, &second, &used);
  const int whole = std::max({used, minute_used, date_used});
  const year_month_day date{year(parsed_year), month(parsed_month), day(parsed_day)};
  const std::string_view rest = std::string_view(given).substr(static_cast<std::size_t>(whole));
  if (whole == 0 || !date.ok() || hour > 23 || minute > 59 || second > 59 ||
      (!rest.empty() && rest != "Z")) {
    throw UsageError(fmt::format(
        "'{}' is not a time; write 30d, 12h, 45m, 2w, 2026-01-31 or 2026-01-31T23:59", text));
  }
  const auto time = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
  const milliseconds length = used > 0          ? milliseconds(seconds(1))
                              : minute_used > 0 ? milliseconds(minutes(1))
                                                : milliseconds(days(1));
  const milliseconds begin = duration_cast<milliseconds>(time.time_since_epoch());
  return {.begin = begin.count(), .end = (begin + length).count()};
}

class Parser {
 public:
  Parser(std::string_view text, std::int64_t now_ms) : text_(text), now_ms_(now_ms) {}

  Filter parse() {
    Filter filter;
    std::string where;
    while (skip_spaces()) {
      if (!where.empty()) where += " AND ";
      where += term(filter.values);
    }
    if (!where.empty()) {
      filter.where = where;
    }
    return filter;
  }

 private:
  [[noreturn]] void fail(std::size_t position, const std::string& why) const {
    constexpr std::size_t kShown = 200;
    const std::string shown =
        text_.size() <= kShown ? std::string(text_) : fmt::format("{}...", text_.substr(0, kShown));
    throw UsageError(fmt::format("filter '{}', position {}: {}", shown, position + 1, why));
  }

  bool skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size();
  }

  std::string term(std::vector<Cell>& values) {
    const bool negated = text_[at_] == '-';
    at_ += negated ? 1 : 0;
    const std::size_t begin = at_;
    const std::size_t end = text_.find_first_of(": ", at_);
    const std::string_view name =
        text_.substr(begin, end == std::string_view::npos ? end : end - begin);
    if (end == std::string_view::npos || text_[end] == ' ') {
      const std::size_t equals = name.find('=');
      fail(begin, equals == std::string_view::npos
                      ? fmt::format("'{0}' is not a term; write key:value, such as label:{0}", name)
                      : fmt::format("'{}' is not a term; write {}:{}", name, name.substr(0, equals),
                                    name.substr(equals + 1)));
    }
    const Key key = key_of_term(name, begin);
    at_ = end + 1;
    std::string any;
    do {
      if (values.size() >= kMostValues) {
        fail(at_, fmt::format("the filter has more than {} values", kMostValues));
      }
      if (!any.empty()) any += " OR ";
      any += condition(key, alternative(), values);
    } while (at_ < text_.size() && text_[at_] == ',' && ++at_ > 0);
    if (at_ < text_.size() && text_[at_] != ' ') {
      fail(at_, fmt::format("'{}' follows a value; write a space or a comma there", text_[at_]));
    }
    return negated ? fmt::format("NOT coalesce(({}), 0)", any) : fmt::format("({})", any);
  }

  Key key_of_term(std::string_view name, std::size_t position) const {
    if (name == "since" || name == "until") {
      return {.sql = "t_start",
              .type = StoredColumn::Type::kTime,
              .comparison = name == "since" ? ">=" : "<="};
    }
    if (const StoredColumn* column = find_column(name)) {
      return {.sql = std::string(column->sql), .type = column->type};
    }
    const std::string sql = sql_of_column(name);
    if (sql.empty()) {
      fail(position, unknown_key(name));
    }
    return {.sql = sql,
            .type = name.starts_with(kMetric) ? StoredColumn::Type::kNumber
                                              : StoredColumn::Type::kText};
  }

  Alternative alternative() {
    const std::size_t begin = at_;
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '/')) {
      const char closing = text_[at_];
      const std::size_t end = text_.find(closing, at_ + 1);
      if (end == std::string_view::npos) {
        fail(begin, closing == '/' ? "the regular expression that begins here needs a closing /"
                                   : "the quoted text that begins here needs a closing \"");
      }
      at_ = end + 1;
      return {.kind = closing == '/' ? Alternative::Kind::kPattern : Alternative::Kind::kQuoted,
              .text = std::string(text_.substr(begin + 1, end - begin - 1)),
              .position = begin};
    }
    at_ = std::min(text_.size(), text_.find_first_of(", ", at_));
    if (at_ == begin) {
      fail(begin, "a value is missing");
    }
    return {.text = std::string(text_.substr(begin, at_ - begin)), .position = begin};
  }

  std::string condition(const Key& key, const Alternative& value, std::vector<Cell>& values) const {
    if (value.text.size() > kLongestValue) {
      fail(value.position, fmt::format("the value is longer than {} bytes", kLongestValue));
    }
    switch (key.type) {
      case StoredColumn::Type::kNumber:
        return number_condition(key, value, values);
      case StoredColumn::Type::kTime:
        return time_condition(key, value, values);
      case StoredColumn::Type::kText:
      case StoredColumn::Type::kPrefix:
        break;
    }
    if (value.kind == Alternative::Kind::kPattern) {
      check_pattern(value);
      values.emplace_back(value.text);
      return fmt::format("matches(?, {})", key.sql);
    }
    if (value.kind == Alternative::Kind::kWord && value.text.find('*') != std::string::npos) {
      values.emplace_back(glob_of(value.text));
      return fmt::format("lower({}) GLOB lower(?)", key.sql);
    }
    values.emplace_back(value.text);
    return key.type == StoredColumn::Type::kPrefix
               ? fmt::format("substr({}, 1, {}) = ? COLLATE NOCASE", key.sql, value.text.size())
               : key.sql + " = ? COLLATE NOCASE";
  }

  void check_pattern(const Alternative& value) const {
    regex_t pattern;
    const int code = ::regcomp(&pattern, value.text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
      std::array<char, 200> why{};
      ::regerror(code, &pattern, why.data(), why.size());
      fail(value.position, fmt::format("not a regular expression: {}", why.data()));
    }
    ::regfree(&pattern);
  }

  std::string number_condition(const Key& key, const Alternative& value,
                               std::vector<Cell>& values) const {
    const std::string_view text = value.text;
    const std::size_t digits = std::min(text.size(), text.find_first_not_of("<>="));
    const std::string_view sign = text.substr(0, digits);
    const std::string_view number = text.substr(digits);
    double parsed = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), parsed);
    const bool known_sign =
        sign.empty() || sign == "=" || sign == "<" || sign == "<=" || sign == ">" || sign == ">=";
    if (value.kind != Alternative::Kind::kWord || error != std::errc() ||
        end != number.data() + number.size() || !std::isfinite(parsed) || !known_sign) {
      fail(value.position, fmt::format("'{}' is not a number; write one such as 32, or a "
                                       "comparison (<, <=, >, >=) such as >=32",
                                       text));
    }
    values.emplace_back(parsed);
    return fmt::format("{} {} ?", key.sql, sign.empty() ? "=" : sign);
  }

  std::string time_condition(const Key& key, const Alternative& value,
                             std::vector<Cell>& values) const {
    std::string_view text = value.text;
    std::string_view comparison = key.comparison;
    for (const std::string_view sign : {">=", "<=", ">", "<"}) {
      if (key.comparison == "=" && text.starts_with(sign)) {
        comparison = sign;
        text.remove_prefix(sign.size());
        break;
      }
    }
    try {
      const TimeSpan span = parse_span(text, now_ms_);
      if (comparison == "=") {
        values.emplace_back(span.begin);
        values.emplace_back(span.end);
        return fmt::format("({0} >= ? AND {0} < ?)", key.sql);
      }
      // A whole day is before, in, or after another time.
      const bool from_end = comparison == "<=" || comparison == ">";
      values.emplace_back(from_end ? span.end : span.begin);
      return fmt::format("{} {} ?", key.sql, comparison.front() == '<' ? "<" : ">=");
    } catch (const UsageError& error) {
      fail(value.position, error.what());
    }
  }

  std::string_view text_;
  std::int64_t now_ms_;
  std::size_t at_ = 0;
};

}  // namespace

Filter parse_filter(std::string_view text, std::int64_t now_ms) {
  return Parser(text, now_ms).parse();
}

std::string sql_of_column(std::string_view name) {
  if (const StoredColumn* column = find_column(name)) {
    return std::string(column->sql);
  }
  if (name.starts_with(kTag) && is_name(name.substr(kTag.size()))) {
    return fmt::format("json_extract(tags, '$.\"{}\"')", name.substr(kTag.size()));
  }
  if (name.starts_with(kMetric) && is_name(name.substr(kMetric.size()))) {
    return fmt::format("(SELECT value FROM metric WHERE run_id = run.id AND name = '{}')",
                       name.substr(kMetric.size()));
  }
  return "";
}

std::int64_t parse_time(std::string_view text, std::int64_t now_ms) {
  return parse_span(text, now_ms).begin;
}

}  // namespace bench::results
