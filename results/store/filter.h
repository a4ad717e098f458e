#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/sqlite.h"

namespace bench::results {

/// Which runs of the store are meant, as a condition of SQL over the table `run`.
struct Filter {
  std::string where = "1";
  std::vector<Cell> values{};
};

/// The filter that `text` writes: terms separated by spaces, all of which must hold.
///
///     model:resnet50 gpu:/H100/ batch:>=32 since:30d tag.site:ams,lon -status:failed
///
/// A key is a column (stored_columns()), tag.NAME, metric.NAME, since or until; a value is a word
/// (with * for anything), a "quoted text", a /regular expression/, a number with <, <=, > or >=, or
/// for times 30d, 12h, 45m, 2w or a date; commas separate alternatives, - before a key means not.
/// Throws UsageError with the position, counted from 1, where it is none of that. `now_ms` is what
/// since and until count from.
Filter parse_filter(std::string_view text, std::int64_t now_ms);

/// How SQL asks for what `name` calls: a column, tag.NAME or metric.NAME; empty where it is none.
std::string sql_of_column(std::string_view name);

/// Milliseconds since 1970 of "2026-01-31" or "2026-01-31T23:59" or with seconds, UTC; or of a time
/// before `now_ms` such as 30d. Throws UsageError.
std::int64_t parse_time(std::string_view text, std::int64_t now_ms);

}  // namespace bench::results
