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
           .fallback = "id,start,workload,machine,label,images_per_sec,status",
           .meaning = "what to show of each run: the filter's keys, but since and until"},
    Option{.name = "format",
           .value = "FORM",
           .fallback = "text",
           .accepted = kTableForms,
           .meaning = "how to print it"},
    Option{
        .name = "limit", .letter = 'n', .value = "N", .meaning = "the newest N runs; unset: all"},
};

std::vector<std::string> columns_of(const std::string& text) {
  std::vector<std::string> columns;
  std::istringstream parts(text);
  for (std::string name; std::getline(parts, name, ',');) {
    if (sql_of_column(name).empty()) {
      std::vector<std::string_view> names;
      for (const StoredColumn& column : stored_columns()) names.push_back(column.name);
      const std::string asked = did_you_mean(near_names(name, names));
      throw UsageError(cat("--columns: '", name, "' is no column",
                           asked.empty() ? "; bench_results list --help has them all" : asked));
    }
    columns.push_back(name);
  }
  if (columns.empty()) {
    throw UsageError("--columns: names no column");
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
      const std::chrono::milliseconds time(std::get<std::int64_t>(row[i]));
      row[i] = utc_text(std::chrono::system_clock::time_point(time));
    }
  }
}

}  // namespace

std::span<const Option> options_of_list() { return kListOptions; }

int run_list(const Arguments& arguments, Streams streams) {
  std::string filter;
  for (const std::string& term : arguments.operands()) {
    filter += cat(filter.empty() ? "" : " ", term);
  }
  const Filter parsed = parse_filter(filter, now_ms());
  Table table{.columns = columns_of(arguments.text("columns"))};
  const std::int64_t limit = arguments.has("limit") ? arguments.integer("limit")
                                                    : std::numeric_limits<std::int64_t>::max();
  const Store store = open_store(arguments, Store::Access::kRead);
  for (const std::string& warning : store.warnings()) {
    streams.err << "bench_results: left out: " << printable(warning) << "\n";
  }
  table.rows = store.list(table.columns, parsed, limit);
  write_times(table);
  print_table(streams.out, table, arguments.text("format"));
  if (!table.rows.empty()) return 0;
  streams.err << "bench_results: "
              << (filter.empty() ? "the store holds no run"
                                 : printable(cat("'", filter, "': no run in the store is so")))
              << "\n";
  return kNothingListed;
}

}  // namespace bench::results
