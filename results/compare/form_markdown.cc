#include <algorithm>
#include <sstream>

#include "models/base/text.h"
#include "results/compare/forms.h"
#include "results/compare/number_text.h"

namespace bench::results {
namespace {

/// GitHub's limit for a comment.
constexpr std::size_t kLongestComment = 65536;

void write_table(std::ostream& out, const Comparison& comparison) {
  out << "\n| | " << markdown_cell(comparison.base_name) << " | "
      << markdown_cell(comparison.other_name) << " | change ["
      << number_text(100 * (1 - comparison.options.alpha)) << "% CI] | verdict | test |\n"
      << "|---|---:|---:|---:|---|---|\n";
  for (const ComparisonRow& row : comparison.rows) {
    const bool bad = row.verdict == stats::ChangeVerdict::kRegressed;
    const std::string mark = bad ? "**" : "";
    out << "| " << markdown_cell(row.workload) << ", " << markdown_cell(row.metric) << " ["
        << markdown_cell(row.unit) << "] | " << summary_text(row.base) << " | "
        << summary_text(row.other) << " | " << shift_text(row) << " | " << mark
        << verdict_text(row, comparison.options) << mark << " | " << test_text(row) << " |\n";
  }
  for (const GeomeanRow& row : comparison.geomeans) {
    out << "| " << markdown_cell(geomean_name(row, true)) << " | | | " << geomean_text(row) << " | "
        << geomean_scope(row) << " | |\n";
  }
}

}  // namespace

std::string markdown_cell(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  std::string cell;
  for (const char letter : printable(line)) {
    if (letter == '|' || letter == '\\' || letter == '`' || letter == '*' || letter == '_') {
      cell += '\\';
    }
    if (letter == '<') {
      cell += "&lt;";
      continue;
    }
    cell += letter;
  }
  return cell;
}

void print_markdown(std::ostream& out, std::span<const Comparison> comparisons) {
  std::ostringstream text;
  text << "**" << verdicts_text(comparisons) << "**\n";
  for (const Comparison& comparison : comparisons) {
    write_table(text, comparison);
    const std::vector<std::string> lines = remarks(comparison);
    if (lines.empty()) continue;
    text << "\n<details><summary>Differences and data quality: " << lines.size()
         << (lines.size() == 1 ? " line" : " lines") << "</summary>\n\n";
    for (const std::string& line : lines) text << "- " << markdown_cell(line) << "\n";
    text << "\n</details>\n";
  }
  std::string whole = text.str();
  if (whole.size() > kLongestComment) {
    const std::string end =
        "\n\n</details>\n\nThe rest is omitted, because a comment holds at most 65,536 "
        "characters.\n";
    const std::size_t line = whole.rfind('\n', kLongestComment - end.size());
    whole = whole.substr(0, line) + end;
  }
  out << whole;
}

}  // namespace bench::results
