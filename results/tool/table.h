#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/sqlite.h"

namespace bench::results {

/// The output of a listing command, for any form of kTableForms.
struct Table {
  std::vector<std::string> columns{};
  std::vector<std::vector<Cell>> rows{};
};

/// The values of a --format option for print_table.
inline constexpr std::string_view kTableForms = "text json jsonl csv md";

/// Prints the table. `form` is text (aligned columns), json (a list of objects), jsonl (an object
/// per line), csv (RFC 4180) or md (Markdown). Numbers have five digits in text and md, and all
/// digits elsewhere. An unknown value is null in json and jsonl, empty in csv, and - in text and
/// md.
void print_table(std::ostream& out, const Table& table, std::string_view form);

}  // namespace bench::results
