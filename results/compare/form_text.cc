#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/compare/forms.h"
#include "results/compare/number_text.h"

namespace bench::results {
namespace {

constexpr std::size_t kColumns = 6;
using TextLine = std::array<std::string, kColumns>;

std::string runs_text(std::size_t runs) {
  return runs == 1 ? "1 run" : fmt::format("{} runs", runs);
}

std::vector<TextLine> heads_of(const Comparison& comparison, const std::string& unit) {
  return {
      {"", fmt::format("{} ({})", comparison.base_name, runs_text(comparison.base_runs)),
       fmt::format("{} ({})", comparison.other_name, runs_text(comparison.other_runs)), "", "", ""},
      {"", unit, unit,
       fmt::format("change [{}% CI]", number_text(100 * (1 - comparison.options.alpha))), "verdict",
       ""}};
}

/// The metric's name is part of the heading if all rows have the same metric.
std::string unit_text(const ComparisonRow& row) {
  return fmt::format("{} [{}]", row.metric, row.unit);
}

std::vector<TextLine> body_of(const Comparison& comparison, bool with_metric) {
  std::vector<TextLine> lines;
  for (const ComparisonRow& row : comparison.rows) {
    lines.push_back({with_metric ? fmt::format("{} {}", row.workload, row.metric) : row.workload,
                     summary_text(row.base), summary_text(row.other), shift_text(row),
                     verdict_text(row, comparison.options), test_text(row)});
  }
  for (const GeomeanRow& row : comparison.geomeans) {
    lines.push_back(
        {geomean_name(row, with_metric), "", "", geomean_text(row), geomean_scope(row), ""});
  }
  return lines;
}

void print_table(std::ostream& out, const std::vector<TextLine>& lines) {
  std::array<std::size_t, kColumns> widths{};
  for (const TextLine& line : lines) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      widths[i] = std::max(widths[i], display_width(line[i]));
    }
  }
  for (const TextLine& line : lines) {
    std::string text = fmt::format("{}  │ {}  │ {}  {}  {}  {}", padded(line[0], widths[0]),
                                   padded(line[1], widths[1]), padded(line[2], widths[2]),
                                   padded(line[3], widths[3]), padded(line[4], widths[4]), line[5]);
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << "\n";
  }
}

}  // namespace

void print_text(std::ostream& out, std::span<const Comparison> comparisons) {
  bool first = true;
  for (const Comparison& comparison : comparisons) {
    if (!first) out << "\n";
    first = false;
    std::map<std::string, int> metrics;
    for (const ComparisonRow& row : comparison.rows) ++metrics[unit_text(row)];
    const bool one = metrics.size() == 1;
    std::vector<TextLine> lines = heads_of(comparison, one ? metrics.begin()->first : "");
    const std::vector<TextLine> body = body_of(comparison, !one);
    lines.insert(lines.end(), body.begin(), body.end());
    for (TextLine& line : lines) {
      for (std::string& cell : line) cell = printable(cell);
    }
    print_table(out, lines);
    for (const std::string& remark : remarks(comparison)) out << printable(remark) << "\n";
  }
}

}  // namespace bench::results
