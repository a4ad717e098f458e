#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "results/store/sqlite.h"

namespace bench::results {

/// Version of the tables; a database of another version is refused.
inline constexpr int kStoreVersion = 1;

/// Creates the tables if they do not exist. Throws DataError if the database belongs to another
/// program or has another version. Waits for others who do the same.
void make_schema(const Database& database);

/// Throws DataError as make_schema does, and if the tables do not exist.
void check_schema(const Database& database);

/// Columns of `run` that a filter and a list may name, and their SQL.
struct StoredColumn {
  std::string_view name;
  std::string_view sql;
  /// What a filter compares a value with: all of a text, its beginning, a number, a time.
  enum class Type : std::uint8_t { kText, kPrefix, kNumber, kTime } type = Type::kText;
  std::string_view meaning;
};
std::span<const StoredColumn> stored_columns();
/// Null for an unknown column.
const StoredColumn* find_column(std::string_view name);

}  // namespace bench::results
