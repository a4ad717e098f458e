#pragma once

#include <string>

namespace bench::results {

/// The text as a cell of CSV (RFC 4180), in quotes if it needs them. A text that a spreadsheet
/// would compute gets an apostrophe in front of it.
std::string csv_cell(std::string text);

}  // namespace bench::results
