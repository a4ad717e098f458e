#include "results/compare/forms.h"
#include "results/compare/number_text.h"
#include "results/track/causes.h"
#include "results/track/forms.h"

namespace bench::results {

void print_markdown(std::ostream& out, const Tracked& tracked) {
  out << markdown_cell(summary(tracked)) << "\n";
  const std::vector<std::string> lines = news_lines(tracked);
  if (!lines.empty()) out << "\n";
  for (const std::string& line : lines) out << "- " << markdown_cell(line) << "\n";
  bool any = false;
  for (const TrackedSeries& one : tracked.series) {
    for (const SeriesChange& change : one.changes) {
      if (!any) out << "\n| series | change |\n|---|---|\n";
      any = true;
      const std::string mark = change.fails() ? "**" : "";
      out << "| " << markdown_cell(title_of(one.series)) << " | " << mark
          << markdown_cell(change_line(one, change)) << mark;
      for (const std::string& line : difference_lines(change)) {
        out << "<br>" << markdown_cell(line);
      }
      out << " |\n";
    }
  }
  out << "\n<details><summary>All series</summary>\n\n"
      << "| series | runs | level | noise | newest |\n|---|---:|---:|---:|---|\n";
  for (const TrackedSeries& one : tracked.series) {
    out << "| " << markdown_cell(title_of(one.series)) << " | " << one.series.points.size() << " | "
        << summary_text(one.segments.back().summary) << " " << markdown_cell(one.series.unit)
        << " | " << (one.noise ? change_text(*one.noise).substr(1) : "unknown") << " | "
        << markdown_cell(newest_line(one)) << " |\n";
  }
  out << "\n</details>\n";
}

}  // namespace bench::results
