#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <vector>

#include "models/base/errors.h"
#include "results/formats/csv_cell.h"
#include "results/formats/imported_record.h"
#include "results/formats/json_text.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"
#include "results/formats/utc_time.h"

/// Comma-separated values (RFC 4180): a header, then one run per line. Columns of known names are
/// members of the record, `tag.x` is a tag, and every other column is a metric.
namespace bench::results {
namespace {

using nlohmann::json;

constexpr const char* kCsvName = "csv";

struct CsvColumn {
  const char* name;
  const char* path;
  bool number;
};
constexpr std::array kCsvColumns = {
    CsvColumn{"model", "workload.model", false},
    CsvColumn{"mode", "workload.mode", false},
    CsvColumn{"dtype", "workload.dtype", false},
    CsvColumn{"backend", "workload.backend", false},
    CsvColumn{"data", "workload.data", false},
    CsvColumn{"batch_per_device", "workload.batch_per_device", true},
    CsvColumn{"devices", "workload.devices", true},
    CsvColumn{"global_batch", "workload.global_batch", true},
    CsvColumn{"hostname", "host.hostname", false},
    CsvColumn{"cpu", "cpu.model", false},
    CsvColumn{"git_rev", "source.git_rev", false},
    CsvColumn{"label", "label", false},
    CsvColumn{"group", "group_id", false},
};

/// True if a spreadsheet would compute the text. Such a text gets a quote in front of it.
bool is_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

std::string csv_value(const json* value) {
  if (value == nullptr) return "";
  return value->is_string() ? csv_cell(value->get<std::string>()) : value->dump();
}

Outputs write_csv(std::span<const StoredRun> runs) {
  std::set<std::string> tags;
  std::set<std::string> metrics;
  for (const StoredRun& run : runs) {
    for (const auto& [name, value] : run.tags) tags.insert(name);
    for (const auto& [name, value] : run.metrics) metrics.insert(name);
  }
  std::string text = "record_id,start_utc,status";
  for (const CsvColumn& column : kCsvColumns) text += fmt::format(",{}", column.name);
  for (const std::string& name : tags) text += "," + csv_cell("tag." + name);
  for (const std::string& name : metrics) text += "," + csv_cell(name);
  text += "\r\n";
  for (const StoredRun& run : runs) {
    text += fmt::format("{},{},{}", run.record_id, csv_value(field(run.record, "time.start_utc")),
                        run.status);
    for (const CsvColumn& column : kCsvColumns) {
      text += "," + csv_value(field(run.record, column.path));
    }
    for (const std::string& name : tags) {
      const auto found = run.tags.find(name);
      text += "," + (found == run.tags.end() ? "" : csv_cell(found->second));
    }
    for (const std::string& name : metrics) {
      const auto value = metric_value(run, name);
      text += "," + (value ? json(*value).dump() : "");
    }
    text += "\r\n";
  }
  return {{.name = "runs.csv", .contents = text}};
}

struct CsvRow {
  int line = 0;  ///< The line where the row begins.
  std::vector<std::string> cells{};
};

/// The file's rows. Quoted cells may contain commas, doubled quotes and line ends.
std::vector<CsvRow> csv_rows(const ForeignFile& source) {
  std::vector<CsvRow> rows;
  CsvRow row{.line = 1, .cells = {""}};
  bool quoted = false;
  int line = 1;
  int quote_line = 0;
  const auto end_row = [&] {
    if (row.cells.size() > 1 || !row.cells.front().empty()) rows.push_back(row);
    row = {.line = line, .cells = {""}};
  };
  for (std::size_t i = 0; i < source.text.size(); ++i) {
    const char c = source.text[i];
    if (c == '\n') ++line;
    if (quoted && c == '"' && i + 1 < source.text.size() && source.text[i + 1] == '"') {
      row.cells.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
      quote_line = line;
    } else if (!quoted && c == ',') {
      row.cells.emplace_back();
    } else if (!quoted && c == '\n') {
      end_row();
    } else if (quoted || c != '\r') {
      row.cells.back() += c;
    }
  }
  if (quoted) {
    bad_source(source, fmt::format("line {}: the quoted cell has no closing quote", quote_line));
  }
  end_row();
  return rows;
}

/// Another tool's spreadsheet: a first line of several names, one of which is a known column.
bool is_csv(const ForeignFile& source) {
  const std::string_view first = std::string_view(source.text).substr(0, source.text.find('\n'));
  if (first.find(',') == std::string_view::npos || first.front() == '{' || first.front() == '[') {
    return false;
  }
  return first.starts_with("model,") || first.find(",model") != std::string_view::npos ||
         first.find("\"model\"") != std::string_view::npos;
}

std::optional<double> csv_number(const std::string& cell) {
  double value = 0;
  const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (read.ec != std::errc() || read.ptr != cell.data() + cell.size()) return std::nullopt;
  return value;
}

/// Puts one cell into the member of its column.
void read_csv_cell(const ForeignFile& source, const std::string& where, const std::string& name,
                   const std::string& cell, ImportedRecord& record) {
  const auto* const column =
      std::find_if(kCsvColumns.begin(), kCsvColumns.end(),
                   [&](const CsvColumn& known) { return name == known.name; });
  const std::optional<double> number = csv_number(cell);
  const std::string text = cell.starts_with('\'') && is_formula(std::string_view(cell).substr(1))
                               ? cell.substr(1)
                               : cell;
  if (column != kCsvColumns.end()) {
    if (column->number && !number) {
      bad_source(source, fmt::format("{}: '{}' is not a number", where, cell));
    }
    record.set(column->path,
               column->number ? json(static_cast<std::int64_t>(*number)) : json(text));
  } else if (name == "record_id") {
    record.set("imported.record_id", cell);
  } else if (name == "start_utc") {
    const auto time = utc_ms(cell);
    if (!time) {
      bad_source(source,
                 fmt::format("{}: '{}' is not a time; write a time such as 2026-01-31T23:59:59Z",
                             where, cell));
    }
    record.starts(time);
  } else if (name == "status") {
    if (cell != "ok") record.failed(fmt::format("the file reports the status {}", cell));
  } else if (name.starts_with("tag.")) {
    record.tag(name.substr(4), text);
  } else if (number) {
    record.metric(name, *number);
  } else {
    bad_source(source, fmt::format("{}: '{}' is not a number; for text, name the column tag.{}",
                                   where, cell, name));
  }
}

Records read_csv(const ForeignFile& source) {
  const std::vector<CsvRow> rows = csv_rows(source);
  const CsvRow& header = rows.front();
  if (std::find(header.cells.begin(), header.cells.end(), "model") == header.cells.end()) {
    bad_source(source, "line 1: the column 'model' is missing");
  }
  Records records;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const CsvRow& row = rows[i];
    if (row.cells.size() != header.cells.size()) {
      bad_source(source, fmt::format("line {}: the number of cells is {}, but the header has {}",
                                     row.line, row.cells.size(), header.cells.size()));
    }
    ImportedRecord record(source, kCsvName);
    record.set("imported.line", row.line);
    for (std::size_t cell = 0; cell < row.cells.size(); ++cell) {
      if (row.cells[cell].empty()) continue;
      read_csv_cell(source, fmt::format("line {}, column '{}'", row.line, header.cells[cell]),
                    header.cells[cell], row.cells[cell], record);
    }
    records.push_back(std::move(record).finish());
  }
  if (records.empty()) bad_source(source, "has a header but no runs");
  return records;
}

}  // namespace

std::string csv_cell(std::string text) {
  if (is_formula(text)) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

Format csv_format() {
  return {.name = kCsvName,
          .what = "comma-separated values, one run per line",
          .sniff = is_csv,
          .read = read_csv,
          .write = write_csv};
}

}  // namespace bench::results
