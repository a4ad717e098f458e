#include "results/report/page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/page/html_page.h"
#include "results/page/markup.h"
#include "results/page/plots.h"
#include "results/report/charts.h"
#include "results/report/conclusion.h"
#include "results/report/disclosure.h"
#include "results/report/prices.h"
#include "results/report/tables.h"

namespace bench::results {
namespace {

/// The page's numbers for programs: systems, workloads, and the speed of every run.
std::string embedded_data(const ReportData& data, bool anonymize) {
  nlohmann::ordered_json root = {{"schema", "bench.report/2"},
                                 {"systems", nlohmann::ordered_json::array()},
                                 {"workloads", nlohmann::ordered_json::array()}};
  for (const ReportSystem& system : data.systems) {
    root["systems"].push_back({{"name", system.name}, {"about", system.about}});
  }
  for (const ReportRow& row : data.rows) {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (const ReportCell& cell : row.cells) {
      nlohmann::ordered_json runs = nlohmann::ordered_json::array();
      for (std::size_t i = 0; i < cell.runs.size(); ++i) {
        nlohmann::ordered_json run = {{row.unit + "_per_sec", cell.speeds[i]}};
        if (!anonymize) run["record_id"] = cell.runs[i]->record_id;
        runs.push_back(run);
      }
      cells.push_back(runs);
    }
    root["workloads"].push_back({{"name", row.name}, {"runs", cells}});
  }
  return root.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

std::string summary_text(const ReportData& data) {
  std::size_t runs = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t few = 0;
  for (const ReportRow& row : data.rows) {
    few += static_cast<std::size_t>(std::count_if(
        row.cells.begin(), row.cells.end(),
        [](const ReportCell& cell) { return !cell.empty() && !cell.speed.interval; }));
  }
  for (const ReportSystem& system : data.systems) {
    runs += system.runs.size();
    for (const StoredRun* run : system.runs) {
      first = first == 0 ? run->start_ms : std::min(first, run->start_ms);
      last = std::max(last, run->start_ms);
    }
  }
  std::string text = fmt::format(
      "<p class=\"soft\">Runs: {}. Workloads: {}. Systems: {}. Dates: {} to {}. A run is one "
      "process.</p>\n",
      runs, data.rows.size(), data.systems.size(), utc_by(first, "%Y-%m-%d"),
      utc_by(last, "%Y-%m-%d"));
  if (few == 1) {
    text += "<p class=\"warn\">1 cell has fewer than the 6 runs that a 95% interval needs.</p>\n";
  } else if (few > 1) {
    text += fmt::format(
        "<p class=\"warn\">{} cells have fewer than the 6 runs that a 95% interval needs.</p>\n",
        few);
  }
  if (data.left_out.size() == 1) {
    text +=
        "<p class=\"warn\">1 run is omitted, because its status is not ok or it has no speed. The "
        "disclosure lists it.</p>\n";
  } else if (!data.left_out.empty()) {
    text += fmt::format(
        "<p class=\"warn\">{} runs are omitted, because their status is not ok or they have no "
        "speed. The disclosure lists them.</p>\n",
        data.left_out.size());
  }
  return text;
}

std::string systems_list(const ReportData& data) {
  HtmlTable table(
      fmt::format("Systems. The reference of ratios is {}.", html_text(data.systems.front().name)),
      {"name", "machine", "runs"}, {1});
  for (const ReportSystem& system : data.systems) {
    table.row(
        {html_text(system.name), html_text(system.about), std::to_string(system.runs.size())});
  }
  return table.html();
}

std::string definitions() {
  return "<ul>\n"
         "<li>Training: forward and backward pass with an update of the weights. Inference: the "
         "forward pass only.</li>\n"
         "<li>Batch 32: a step processes 32 images, or other examples, on each device.</li>\n"
         "<li>f32, bf16, f16, int8: the type of the numbers in the computation.</li>\n"
         "<li>1.50×: the result is 1.5 times the result that it is compared with.</li>\n"
         "<li>Certain: the 99% interval of the ratio to every other system excludes 1, and "
         "every cell has at least 6 undisturbed runs and few others.</li>\n"
         "<li>Probably: the 90% interval excludes 1. Otherwise the page says \"cannot "
         "tell\". "
         "The same applies to a lead below 1%.</li>\n"
         "<li>Several workloads count by the geometric mean of their ratios, over the workloads "
         "that all systems ran.</li>\n"
         "<li>Speed X of a run: images, tokens or examples / time from the end of warm-up to the "
         "end of the last step. If workloads count different things, a unit of "
         "work is one of them.</li>\n"
         "<li>Interval of a median: from order statistics, exact for any distribution. It needs 6 "
         "runs.</li>\n"
         "<li>Ratio: the Hodges-Lehmann estimate from the logarithms. Its interval contains the "
         "ratios that the Mann-Whitney test does not reject.</li>\n"
         "<li>Geometric mean: e to the mean, over workloads, of the difference of the medians of "
         "the logarithms of the speeds. Its interval is from a BCa bootstrap over runs.</li>\n"
         "<li>Workloads differ in model, mode, batch, type or data. Speeds of different workloads "
         "are never averaged.</li>\n"
         "</ul>\n";
}

void add_appendix(HtmlPage& page, const ReportData& data, bool anonymize) {
  page.add("appendix", "Appendix: statistics, published figures, disclosure",
           "<p>The sections below support the conclusion.</p>\n", "part");
  page.add("systems", "Systems", systems_list(data));
  page.add("intervals", "Speeds with intervals", intervals_table(data));
  if (data.systems.size() > 1) {
    page.add("means", "Geometric means", means_table(data) + figures(mean_plot(data)));
    page.add("ratios", "Ratios to the reference", figures(forest_plots(data)));
  }
  page.add("runs", "All runs",
           "<p class=\"soft\">Each dot is a run. The vertical line is the median, and the bar is "
           "its 95% interval. Each drawing has a separate scale, which may not start at 0.</p>\n" +
               figures(dot_plots(data)));
  if (!has_energy(data)) page.add("energy", "Work per joule", energy_table(data));
  page.add("bounds", "What limits each workload", bounds_table(data));
  page.add("quality", "Quality", quality_table(data));
  page.add("definitions", "Definitions", definitions());
  page.add("published", "Published figures, for comparison",
           "<p>bench did not measure these speeds. Software, data and what is counted differ "
           "between sources.</p>\n" +
               published_table(),
           "apart");
  page.add("disclosure", "Full disclosure", disclosure(data, anonymize));
}

}  // namespace

std::string report_page(std::span<const StoredRun> runs, const PageOptions& options) {
  ReportData data = report_data(runs, options.report);
  add_prices(data, options.prices);
  const bool anonymize = options.report.anonymize;
  HtmlPage page(options.title);
  page.add("conclusion", "Conclusion", conclusion(data) + summary_text(data));
  page.add("matrix", has_prices(data) ? "Speed and cost by workload" : "Speed by workload",
           matrix_table(data));
  if (has_prices(data)) page.add("cost", "Prices and assumptions", prices_table(data));
  if (!data.scaling.empty()) {
    page.add("scaling", "Scaling by number of devices",
             scaling_table(data) + figures(scaling_plots(data)));
  }
  if (has_energy(data)) page.add("energy", "Work per joule", energy_table(data));
  add_appendix(page, data, anonymize);
  return page.html(embedded_data(data, anonymize));
}

}  // namespace bench::results
