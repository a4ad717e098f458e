#include <map>

#include "models/base/errors.h"
#include "results/compare/forms.h"
#include "results/compare/number_text.h"
#include "results/page/html_page.h"
#include "results/page/markup.h"
#include "results/page/plots.h"

namespace bench::results {
namespace {

std::string side_head(const std::string& name, std::size_t runs) {
  return cat(html_text(name), "<small>", runs, runs == 1 ? " run" : " runs", "</small>");
}

/// Important verdicts have a mark, so that they do not depend on colour alone.
std::string verdict_cell(const ComparisonRow& row, const CompareOptions& options) {
  const std::string text = html_text(verdict_text(row, options));
  return row.verdict == stats::ChangeVerdict::kRegressed
             ? cat("<strong class=\"warn\">", text, "</strong>")
             : text;
}

std::string rows_table(const Comparison& comparison) {
  const std::string level = number_text(100 * (1 - comparison.options.alpha));
  HtmlTable table(
      cat("Medians with half of their 95% interval; change of ", html_text(comparison.other_name),
          " against ", html_text(comparison.base_name), " with its ", level, "% interval"),
      {"work", "metric", side_head(comparison.base_name, comparison.base_runs),
       side_head(comparison.other_name, comparison.other_runs), cat("change [", level, "% CI]"),
       "verdict", "test"},
      {1, 5, 6});
  for (const ComparisonRow& row : comparison.rows) {
    table.row({html_text(row.workload), html_text(cat(row.metric, " [", row.unit, "]")),
               summary_text(row.base), summary_text(row.other), shift_text(row),
               verdict_cell(row, comparison.options), test_text(row)});
  }
  for (const GeomeanRow& row : comparison.geomeans) {
    table.row({html_text(geomean_name(row, false)), html_text(row.metric), "", "",
               geomean_text(row), cat("of ", row.works, " works"), ""});
  }
  return table.html();
}

/// One plot per metric: ratios of different metrics have no common axis.
std::string ratio_plots(const Comparison& comparison, std::size_t index) {
  std::map<std::string, std::vector<Branch>> metrics;
  for (const ComparisonRow& row : comparison.rows) {
    if (!row.shift) continue;
    metrics[row.metric].push_back(
        {.name = row.workload,
         .hover = cat(shift_text(row), ", ", verdict_text(row, comparison.options)),
         .log_ratio = row.shift->estimate,
         .interval = row.shift->interval});
  }
  std::string html;
  std::size_t next = 0;
  for (const auto& [metric, branches] : metrics) {
    html += forest_plot(cat(metric, ", ", comparison.other_name, " against ", comparison.base_name),
                        cat("ratio", index, "-", next++), branches, comparison.options.margin);
  }
  return html;
}

std::string run_plots(const Comparison& comparison, std::size_t index) {
  std::string html;
  std::size_t next = 0;
  for (const ComparisonRow& row : comparison.rows) {
    html += dot_plot(cat(row.workload, ", ", row.metric), row.unit, cat("runs", index, "-", next++),
                     {{.name = comparison.base_name,
                       .value = summary_text(row.base),
                       .values = row.base_values,
                       .summary = row.base},
                      {.name = comparison.other_name,
                       .value = summary_text(row.other),
                       .values = row.other_values,
                       .summary = row.other}});
  }
  return html;
}

std::string remarks_list(const Comparison& comparison) {
  const std::vector<std::string> lines = remarks(comparison);
  if (lines.empty()) return "<p>Nothing differs but the runs themselves.</p>\n";
  std::string html = "<ul>\n";
  for (const std::string& line : lines) html += cat("<li>", html_text(line), "</li>\n");
  return cat(html, "</ul>\n");
}

/// The names of the sides above the remarks of each comparison, if there are several.
std::string with_head(std::span<const Comparison> comparisons, const Comparison& one,
                      const std::string& body) {
  if (comparisons.size() == 1) return body;
  return cat("<h3>", html_text(cat(one.other_name, " against ", one.base_name)), "</h3>\n", body);
}

std::string compare_definitions(const CompareOptions& options) {
  const std::string margin = number_text(100 * options.margin);
  const char* correction = options.family_wise ? "Holm" : "Benjamini-Hochberg";
  return cat(
      "<ul>\n<li>Change: e^d - 1, d the Hodges-Lehmann shift of the logarithms; its interval is "
      "Mann-Whitney's, of pairs Wilcoxon's, of groups of repeats by bootstrap.</li>\n"
      "<li>Verdict, from that interval alone: a change is told from ",
      margin,
      "% on (--min-effect); equivalent: the whole interval lies within ± that; inconclusive: it "
      "holds both, with the runs that it takes.</li>\n<li>p is the test's, q is p after ",
      correction,
      " over all rows; a change with q above --alpha is taken back to inconclusive.</li>\n"
      "<li>The replicate is a run, which is a process, never a step.</li>\n</ul>\n");
}

}  // namespace

void print_html(std::ostream& out, std::span<const Comparison> comparisons) {
  std::string tables;
  std::string ratios;
  std::string runs;
  std::string differing;
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    const Comparison& one = comparisons[i];
    tables += with_head(comparisons, one, rows_table(one));
    ratios += ratio_plots(one, i);
    runs += with_head(comparisons, one, figures(run_plots(one, i)));
    differing += with_head(comparisons, one, remarks_list(one));
  }
  HtmlPage page(cat("CNN benchmark comparison with ", comparisons.front().base_name));
  page.add("verdicts", "Verdicts",
           cat("<p><strong>", verdicts_text(comparisons), ".</strong></p>\n", tables));
  page.add("ratios", "Changes",
           cat("<p class=\"soft\">1 is equality; within the band a change does not matter.</p>\n",
               figures(ratios)));
  page.add("runs", "Every run",
           cat("<p class=\"soft\">A dot is a run; the upright line is the median, the bar its 95% "
               "interval. Each drawing has a scale of its own, which need not begin at 0.</p>\n",
               runs));
  page.add("differs", "What differs, and how far to trust it", differing);
  page.add("definitions", "How the numbers are made",
           compare_definitions(comparisons.front().options));
  out << page.html(comparisons_json(comparisons)
                       .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace bench::results
