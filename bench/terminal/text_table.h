#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench {

/// Plain text in columns. A column is as wide as its widest cell, two blanks separate columns, and
/// numbers are right-aligned.
class TextTable {
 public:
  struct Column {
    std::string title;
    bool right = false;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Throws InternalError unless there is a cell per column.
  void add_row(std::vector<std::string> cells);

  /// Prints a line of titles and a line per row, without trailing blanks.
  friend std::ostream& operator<<(std::ostream& out, const TextTable& table);

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace bench
