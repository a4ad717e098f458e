#include <array>
#include <chrono>
#include <limits>
#include <ostream>
#include <sstream>

#include "models/base/errors.h"
#include "models/base/near_names.h"
#include "models/base/text.h"
#include "results/record/identity.h"
#include "results/store/schema.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"
#include "results/tool/table.h"

namespace bench::results {
namespace {

constexpr std::array kListOptions = {
    kStoreOption,
    Option{.name = "columns",
           .value = "A,B,...",
           .fallback = "id,start,workload,machine,label,speed,unit,status",
           .meaning = "columns to print: the keys of a filter, except since and until"},
    Option{.name = "format",
           .value = "FORM",
           .fallback = "text",
           .accepted = kTableForms,
           .meaning = "output format"},
    Option{.name = "limit",
           .letter = 'n',
           .value = "N",
           .meaning = "print only the newest N runs; unset: all"},
};

std::vector<std::string> columns_of(const std::string& text) {
  std::vector<std::string> columns;
  std::istringstream parts(text);
  for (std::string name; std::getline(parts, name, ',');) {
    if (sql_of_column(name).empty()) {
      std::vector<std::string_view> names;
      for (const StoredColumn& column : stored_columns()) names.push_back(column.name);
      const std::string suggestion = did_you_mean(near_names(name, names));
      if (!suggestion.empty()) {
        throw UsageError(
            fmt::format("--columns={}: unknown column '{}'{}", text, name, suggestion));
      }
      throw UsageError(fmt::format(
          "--columns={}: unknown column '{}'; bench_results list --help lists all", text, name));
    }
    columns.push_back(name);
  }
  if (columns.empty()) {
    throw UsageError("--columns=: give at least one column; bench_results list --help lists all");
  }
  return columns;
}

/// The exit status of main() if a selector finds no run.
constexpr int kNothingListed = 3;

bool is_time(const std::string& column) {
  const StoredColumn* found = find_column(column);
  return found != nullptr && found->type == StoredColumn::Type::kTime;
}

void write_times(Table& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!is_time(table.columns[i])) continue;
    for (auto& row : table.rows) {
      const auto* const ms = std::get_if<std::int64_t>(&row[i]);
      if (ms == nullptr) continue;
      row[i] = utc_text(std::chrono::system_clock::time_point(std::chrono::milliseconds(*ms)));
    }
  }
}

}  // namespace

std::span<const Option> options_of_list() { return kListOptions; }

int run_list(const Arguments& arguments, Streams streams) {
  std::string filter;
  for (const std::string& term : arguments.operands()) {
    if (!filter.empty()) filter += " ";
    filter += term;
  }
  const Filter parsed = parse_filter(filter, now_ms());
  Table table{.columns = columns_of(arguments.text("columns"))};
  const std::int64_t limit = arguments.has("limit") ? arguments.integer("limit", 1)
                                                    : std::numeric_limits<std::int64_t>::max();
  const Store store = open_store(arguments, Store::Access::kRead, &streams.err);
  print_warnings(store, streams.err);
  table.rows = store.list(table.columns, parsed, limit);
  write_times(table);
  print_table(streams.out, table, arguments.text("format"));
  if (!table.rows.empty()) return 0;
  if (filter.empty()) {
    streams.err << "bench_results: the store has no runs\n";
  } else {
    streams.err << fmt::format("bench_results: no runs match '{}'\n", printable(filter));
  }
  return kNothingListed;
}

}  // namespace bench::results
