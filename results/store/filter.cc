#include "results/store/filter.h"

#include <regex.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "models/base/errors.h"
#include "models/base/near_names.h"
#include "results/store/schema.h"

namespace bench::results {
namespace {

constexpr std::string_view kTag = "tag.";
constexpr std::string_view kMetric = "metric.";

/// One of the alternatives of a term.
struct Alternative {
  enum class Kind : std::uint8_t { kWord, kQuoted, kPattern } kind = Kind::kWord;
  std::string text{};
  std::size_t position = 0;
};

struct Key {
  std::string sql{};
  StoredColumn::Type type = StoredColumn::Type::kText;
  /// For times: which side of the value is selected.
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
  std::string asked = did_you_mean(near_names(name, names));
  return cat("'", name, "' is no key",
             asked.empty() ? "; bench_results list --help has them all" : asked);
}

/// A word with * for anything, for SQL's GLOB, which knows more special characters.
std::string glob_of(std::string_view word) {
  std::string glob;
  for (const char letter : word) {
    if (letter == '?' || letter == '[') {
      glob += cat('[', letter, ']');
    } else {
      glob += letter;
    }
  }
  return glob;
}

class Parser {
 public:
  Parser(std::string_view text, std::int64_t now_ms) : text_(text), now_ms_(now_ms) {}

  Filter parse() {
    Filter filter;
    std::string where;
    while (skip_spaces()) {
      where += cat(where.empty() ? "" : " AND ", term(filter.values));
    }
    if (!where.empty()) {
      filter.where = where;
    }
    return filter;
  }

 private:
  [[noreturn]] void fail(std::size_t position, const std::string& why) const {
    throw UsageError(cat("filter '", text_, "', position ", position + 1, ": ", why));
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
      fail(begin, cat("'", name, "' is no term; write key:value, such as model:", name));
    }
    const Key key = key_of_term(name, begin);
    at_ = end + 1;
    std::string any;
    do {
      any += cat(any.empty() ? "" : " OR ", condition(key, alternative(), values));
    } while (at_ < text_.size() && text_[at_] == ',' && ++at_ > 0);
    if (at_ < text_.size() && text_[at_] != ' ') {
      fail(at_, cat("'", text_.substr(at_, 1), "' follows a value; a space or a comma does"));
    }
    return negated ? cat("NOT coalesce((", any, "), 0)") : cat("(", any, ")");
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
        fail(begin, cat("the ", closing == '/' ? "regular expression" : "text",
                        " that begins here does not end; close it with ", closing));
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
      return cat("matches(?, ", key.sql, ")");
    }
    if (value.kind == Alternative::Kind::kWord && value.text.find('*') != std::string::npos) {
      values.emplace_back(glob_of(value.text));
      return cat(key.sql, " GLOB ?");
    }
    values.emplace_back(value.text);
    return key.type == StoredColumn::Type::kPrefix
               ? cat("substr(", key.sql, ", 1, ", value.text.size(), ") = ?")
               : cat(key.sql, " = ?");
  }

  void check_pattern(const Alternative& value) const {
    regex_t pattern;
    const int code = ::regcomp(&pattern, value.text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
      std::array<char, 200> why{};
      ::regerror(code, &pattern, why.data(), why.size());
      fail(value.position, cat("no regular expression: ", why.data()));
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
        end != number.data() + number.size() || !known_sign) {
      fail(value.position,
           cat("'", text, "' is no number, nor one behind <, <=, > or >= such as >=32"));
    }
    values.emplace_back(parsed);
    return cat(key.sql, sign.empty() ? " = " : cat(" ", sign, " "), "?");
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
      values.emplace_back(parse_time(text, now_ms_));
    } catch (const UsageError& error) {
      fail(value.position, error.what());
    }
    return cat(key.sql, " ", comparison, " ?");
  }

  std::string_view text_;
  std::int64_t now_ms_;
  std::size_t at_ = 0;
};

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

}  // namespace

Filter parse_filter(std::string_view text, std::int64_t now_ms) {
  return Parser(text, now_ms).parse();
}

std::string sql_of_column(std::string_view name) {
  if (const StoredColumn* column = find_column(name)) {
    return std::string(column->sql);
  }
  if (name.starts_with(kTag) && is_name(name.substr(kTag.size()))) {
    return cat("json_extract(tags, '$.\"", name.substr(kTag.size()), "\"')");
  }
  if (name.starts_with(kMetric) && is_name(name.substr(kMetric.size()))) {
    return cat("(SELECT value FROM metric WHERE run_id = run.id AND name = '",
               name.substr(kMetric.size()), "')");
  }
  return "";
}

std::int64_t parse_time(std::string_view text, std::int64_t now_ms) {
  using namespace std::chrono;
  const std::string given(text);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && count >= 0 && end + 1 == text.data() + text.size() &&
      unit_of(*end).count() > 0 && count < (std::int64_t{1} << 31)) {
    return now_ms - count * unit_of(*end).count();
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
  // NOLINTNEXTLINE(cert-err34-c): %n tells how far it came, and the parts are checked.
  std::sscanf(given.c_str(), "%4d-%2u-%2u%nT%2u:%2u%n:%2u%n", &parsed_year, &parsed_month,
              &parsed_day, &date_used, &hour, &minute, &minute_used, &second, &used);
  const int whole = std::max({used, minute_used, date_used});
  const year_month_day date{year(parsed_year), month(parsed_month), day(parsed_day)};
  const std::string_view rest = std::string_view(given).substr(static_cast<std::size_t>(whole));
  if (whole == 0 || !date.ok() || hour > 23 || minute > 59 || second > 59 ||
      (!rest.empty() && rest != "Z")) {
    throw UsageError(cat("'", text,
                         "' is no time; write 30d, 12h, 45m, 2w, 2026-01-31 or "
                         "2026-01-31T23:59"));
  }
  const auto time = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
  return duration_cast<milliseconds>(time.time_since_epoch()).count();
}

}  // namespace bench::results
