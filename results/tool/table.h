#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/sqlite.h"

namespace bench::results {

/// What a command lists, in any of the forms of kTableForms.
struct Table {
  std::vector<std::string> columns{};
  std::vector<std::vector<Cell>> rows{};
};

/// The values of a --format option for print_table.
inline constexpr std::string_view kTableForms = "text json jsonl csv md";

/// As `form` says: text in aligned columns, json a list of objects, jsonl an object a line, csv
/// after RFC 4180, md a table of Markdown. Numbers have five digits in text and md, all of theirs
/// elsewhere; a value that is not known is null, or empty, or - in text and md.
void print_table(std::ostream& out, const Table& table, std::string_view form);

}  // namespace bench::results
