#include "results/tool/table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "models/base/text.h"
#include "results/compare/forms.h"
#include "results/formats/csv_cell.h"

namespace bench::results {
namespace {

nlohmann::ordered_json object_of(const Table& table, const std::vector<Cell>& row) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
            object[table.columns[i]] = nullptr;
          } else {
            object[table.columns[i]] = value;
          }
        },
        row[i]);
  }
  return object;
}

std::string line_of(const nlohmann::ordered_json& object, int indent) {
  return object.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

/// A cell's text for readers.
std::string short_text(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.5g", *real);
    return text.data();
  }
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return std::to_string(*integer);
  }
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr || text->empty() ? "-" : printable(*text);
}

/// The number of letters; UTF-8 continuation bytes do not count.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
  }));
}

void print_text(std::ostream& out, const Table& table) {
  std::vector<std::size_t> widths;
  std::vector<bool> right(table.columns.size(), true);
  for (const std::string& column : table.columns) widths.push_back(width_of(column));
  std::vector<std::vector<std::string>> lines;
  for (const auto& row : table.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(short_text(row[i]));
      widths[i] = std::max(widths[i], width_of(line.back()));
      right[i] = right[i] && (is_number(row[i]) || std::holds_alternative<std::monostate>(row[i]));
    }
  }
  const auto print = [&](const std::vector<std::string>& line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string space(widths[i] - width_of(line[i]), ' ');
      const bool last = i + 1 == line.size();
      out << (right[i] ? space : "") << line[i] << (right[i] || last ? "" : space)
          << (last ? "\n" : "  ");
    }
  };
  print(table.columns);
  for (const auto& line : lines) print(line);
}

std::string csv_text(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) {
    return line_of(*real, -1);
  }
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return csv_cell(*text);
  }
  return std::holds_alternative<std::monostate>(cell) ? "" : short_text(cell);
}

void print_csv(std::ostream& out, const Table& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    out << (i == 0 ? "" : ",") << csv_cell(table.columns[i]);
  }
  out << "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << (i == 0 ? "" : ",") << csv_text(row[i]);
    }
    out << "\r\n";
  }
}

void print_markdown_table(std::ostream& out, const Table& table) {
  out << "|";
  for (const std::string& column : table.columns) out << " " << markdown_cell(column) << " |";
  out << "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool number = !table.rows.empty() && is_number(table.rows.front()[i]);
    out << (number ? "---:|" : "---|");
  }
  out << "\n";
  for (const auto& row : table.rows) {
    out << "|";
    for (const Cell& cell : row) out << " " << markdown_cell(short_text(cell)) << " |";
    out << "\n";
  }
}

}  // namespace

void print_table(std::ostream& out, const Table& table, std::string_view form) {
  if (form == "csv") {
    print_csv(out, table);
  } else if (form == "md") {
    print_markdown_table(out, table);
  } else if (form == "jsonl") {
    for (const auto& row : table.rows) out << line_of(object_of(table, row), -1) << "\n";
  } else if (form == "json") {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) list.push_back(object_of(table, row));
    out << line_of(list, 1) << "\n";
  } else {
    print_text(out, table);
  }
}

}  // namespace bench::results
