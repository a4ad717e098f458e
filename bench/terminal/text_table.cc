#include "bench/terminal/text_table.h"

#include <algorithm>
#include <ostream>

#include "models/base/errors.h"

namespace bench {

void TextTable::add_row(std::vector<std::string> cells) {
  check(cells.size() == columns_.size(), "a row of a table needs one cell per column");
  rows_.push_back(std::move(cells));
}

std::ostream& operator<<(std::ostream& out, const TextTable& table) {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const TextTable::Column& column : table.columns_) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const auto& row : table.rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], row[c].size());
    }
  }
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - row[c].size(), ' ');
      if (c > 0) {
        line += "  ";
      }
      line += table.columns_[c].right ? blanks + row[c] : row[c] + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  print(titles);
  std::for_each(table.rows_.begin(), table.rows_.end(), print);
  return out;
}

}  // namespace bench
