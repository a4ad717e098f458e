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
  if (runs == 1) return fmt::format("{}<small>1 run</small>", html_text(name));
  return fmt::format("{}<small>{} runs</small>", html_text(name), runs);
}

/// Important verdicts have a mark, so that they do not depend on colour alone.
std::string verdict_cell(const ComparisonRow& row, const CompareOptions& options) {
  const std::string text = html_text(verdict_text(row, options));
  return row.verdict == stats::ChangeVerdict::kRegressed
             ? fmt::format("<strong class=\"warn\">{}</strong>", text)
             : text;
}

std::string rows_table(const Comparison& comparison) {
  const std::string level = number_text(100 * (1 - comparison.options.alpha));
  HtmlTable table(
      fmt::format("Median of each side ± half of its {2}% interval, and the change from {0} to {1} "
                  "with its {2}% interval",
                  html_text(comparison.base_name), html_text(comparison.other_name), level),
      {"workload", "metric", side_head(comparison.base_name, comparison.base_runs),
       side_head(comparison.other_name, comparison.other_runs),
       fmt::format("change [{}% CI]", level), "verdict", "test"},
      {1, 5, 6});
  for (const ComparisonRow& row : comparison.rows) {
    table.row({html_text(row.workload), html_text(fmt::format("{} [{}]", row.metric, row.unit)),
               summary_text(row.base), summary_text(row.other), shift_text(row),
               verdict_cell(row, comparison.options), test_text(row)});
  }
  for (const GeomeanRow& row : comparison.geomeans) {
    table.row({html_text(geomean_name(row, false)), html_text(row.metric), "", "",
               geomean_text(row), geomean_scope(row), ""});
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
         .hover = fmt::format("{}, {}", shift_text(row), verdict_text(row, comparison.options)),
         .log_ratio = row.shift->estimate,
         .interval = row.shift->interval});
  }
  std::string html;
  std::size_t next = 0;
  for (const auto& [metric, branches] : metrics) {
    html += forest_plot(
        fmt::format("{}, {} relative to {}", metric, comparison.other_name, comparison.base_name),
        fmt::format("ratio{}-{}", index, next++), branches, comparison.options.margin);
  }
  return html;
}

std::string run_plots(const Comparison& comparison, std::size_t index) {
  std::string html;
  std::size_t next = 0;
  for (const ComparisonRow& row : comparison.rows) {
    html += dot_plot(fmt::format("{}, {}", row.workload, row.metric), row.unit,
                     fmt::format("runs{}-{}", index, next++),
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
  if (lines.empty()) return "<p>No differences, warnings or notes were found.</p>\n";
  std::string html = "<ul>\n";
  for (const std::string& line : lines) html += fmt::format("<li>{}</li>\n", html_text(line));
  return html + "</ul>\n";
}

/// The names of the sides above the remarks of each comparison, if there are several.
std::string with_head(std::span<const Comparison> comparisons, const Comparison& one,
                      const std::string& body) {
  if (comparisons.size() == 1) return body;
  return fmt::format("<h3>{} compared with {}</h3>\n{}", html_text(one.other_name),
                     html_text(one.base_name), body);
}

std::string compare_definitions(const CompareOptions& options) {
  const std::string margin = number_text(100 * options.margin);
  const char* correction = options.family_wise ? "Holm" : "Benjamini-Hochberg";
  return fmt::format(
      "<ul>\n"
      "<li>Change: e^d - 1, where d is the Hodges-Lehmann shift of the logarithms. Its interval is "
      "from the Mann-Whitney test, or from the Wilcoxon test for pairs of runs. Groups of repeats "
      "are compared by their medians.</li>\n"
      "<li>Geomean: the geometric mean of the ratios of undisturbed rows. Its interval is from a "
      "bootstrap over "
      "runs.</li>\n"
      "<li>Regressed, improved, changed: the interval excludes 0, and the change is at least {0}% "
      "(--min-effect).</li>\n"
      "<li>Equivalent: the interval is within ±{0}%, or it excludes 0 and the change is less than "
      "{0}%.</li>\n"
      "<li>Inconclusive: none of these. The verdict shows how many runs would decide.</li>\n"
      "<li>Disturbed: other programs, steal, throttling or a stop disturbed more than one run and "
      "more than a tenth of the runs of a side, or half of them. With pairs of runs: one side more "
      "than the other, by over half of the pairs.</li>\n"
      "<li>p is the p-value of the test, and q is p after the {1} correction over all rows. A "
      "change with q above --alpha becomes inconclusive.</li>\n"
      "<li>The replicate is a run, which is one process. A step is not a replicate.</li>\n"
      "</ul>\n",
      margin, correction);
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
  const std::string other = comparisons.size() == 1 ? ": " + comparisons.front().other_name : "";
  HtmlPage page(
      fmt::format("CNN benchmarks{} compared with {}", other, comparisons.front().base_name));
  page.add("verdicts", "Verdicts",
           fmt::format("<p><strong>{}.</strong></p>\n{}", verdicts_text(comparisons), tables));
  page.add("ratios", "Changes",
           fmt::format("<p class=\"soft\">1 means equal. Changes within the band are smaller than "
                       "--min-effect.</p>\n{}",
                       figures(ratios)));
  page.add("runs", "All runs",
           fmt::format("<p class=\"soft\">Each dot is a run. The vertical line is the median, and "
                       "the bar is its {}% interval. Each drawing has a separate scale, which may "
                       "not start at 0.</p>\n{}",
                       number_text(100 * (1 - comparisons.front().options.alpha)), runs));
  page.add("differs", "Differences and data quality", differing);
  page.add("definitions", "Definitions", compare_definitions(comparisons.front().options));
  out << page.html(comparisons_json(comparisons)
                       .dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace bench::results
