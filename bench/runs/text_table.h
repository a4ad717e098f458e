#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench {

/// Plain text in columns: as wide as their widest cell, two blanks apart, numbers to the right.
class TextTable {
 public:
  struct Column {
    std::string title;
    bool right = false;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Throws InternalError unless there is a cell per column.
  void add_row(std::vector<std::string> cells);

  /// One line for the titles and one per row, without blanks at their ends.
  friend std::ostream& operator<<(std::ostream& out, const TextTable& table);

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace bench
