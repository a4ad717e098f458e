#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "results/store/sqlite.h"

namespace bench::results {

/// How the tables lie; a database of another version is refused.
inline constexpr int kStoreVersion = 1;

/// Makes the tables where there are none. Throws DataError where the database is another program's,
/// or of another version. Waits for others who do the same.
void make_schema(const Database& database);

/// Throws DataError as make_schema does, and where there are no tables.
void check_schema(const Database& database);

/// Columns of `run` that a filter and a list may name, and how SQL asks for them.
struct StoredColumn {
  std::string_view name;
  std::string_view sql;
  /// What a filter holds a value against: all of a text, its beginning, a number, a time.
  enum class Type : std::uint8_t { kText, kPrefix, kNumber, kTime } type = Type::kText;
  std::string_view meaning;
};
std::span<const StoredColumn> stored_columns();
/// Null where no column is called so.
const StoredColumn* find_column(std::string_view name);

}  // namespace bench::results
