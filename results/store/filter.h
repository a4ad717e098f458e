#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/sqlite.h"

namespace bench::results {

/// Which runs of the store are selected, as an SQL condition over the table `run`.
struct Filter {
  std::string where = "1";
  std::vector<Cell> values{};
};

/// Parses a filter: terms separated by spaces, all of which must hold.
///
///     model:resnet50 gpu:/H100/ batch:>=32 since:30d tag.site:ams,lon -status:failed
///
/// A key is a column (stored_columns()), tag.NAME, metric.NAME, since or until. A value is a word
/// (with * for anything), a "quoted text", a /regular expression/, or a number with <, <=, > or >=.
/// Words and quoted texts match in any case. A time is 30d, 12h, 45m, 2w or a date, which is the
/// whole day. Commas separate alternatives. A - before a key negates the term. Throws UsageError
/// with the position, counted from 1, on a syntax error or for a filter that SQLite cannot hold.
/// `since` and `until` count from `now_ms`.
Filter parse_filter(std::string_view text, std::int64_t now_ms);

/// The SQL expression for a column, tag.NAME or metric.NAME; empty for any other name.
std::string sql_of_column(std::string_view name);

/// Milliseconds since 1970 of a UTC time such as "2026-01-31", "2026-01-31T23:59" or with seconds.
/// Also accepts a time before `now_ms`, such as 30d. Throws UsageError.
std::int64_t parse_time(std::string_view text, std::int64_t now_ms);

}  // namespace bench::results
