#include "results/report/page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/page/html_page.h"
#include "results/page/markup.h"
#include "results/page/plots.h"
#include "results/report/charts.h"
#include "results/report/disclosure.h"
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
        nlohmann::ordered_json run = {{"images_per_sec", cell.speeds[i]}};
        if (!anonymize) run["record_id"] = cell.runs[i]->record_id;
        runs.push_back(run);
      }
      cells.push_back(runs);
    }
    root["workloads"].push_back({{"name", row.name}, {"runs", cells}});
  }
  return root.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string summary_text(const ReportData& data) {
  std::size_t runs = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t few = 0;
  std::size_t disturbed = 0;
  for (const ReportRow& row : data.rows) {
    disturbed += static_cast<std::size_t>(
        std::count_if(row.cells.begin(), row.cells.end(),
                      [](const ReportCell& cell) { return cell.disturbed.too_many(); }));
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
      "<p>Runs: {}. Workloads: {}. Systems: {}. Dates: {} to {}. Reference system: <b>{}</b>.</p>\n"
      "<p>A run is one process. Intervals show the spread between runs.</p>\n",
      runs, data.rows.size(), data.systems.size(), utc_by(first, "%Y-%m-%d"),
      utc_by(last, "%Y-%m-%d"), html_text(data.systems.front().name));
  if (few == 1) {
    text += "<p class=\"warn\">1 cell has fewer than the 6 runs that a 95% interval needs.</p>\n";
  } else if (few > 1) {
    text += fmt::format(
        "<p class=\"warn\">{} cells have fewer than the 6 runs that a 95% interval needs.</p>\n",
        few);
  }
  if (disturbed > 0) {
    text += fmt::format(
        "<p class=\"warn\">Cells that other programs, steal, throttling or a stop disturbed: {}. "
        "Their speeds may be too low. Measure them again on a quiet machine.</p>\n",
        disturbed);
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
  HtmlTable table("Systems", {"name", "machine", "runs"}, {1});
  for (const ReportSystem& system : data.systems) {
    table.row(
        {html_text(system.name), html_text(system.about), std::to_string(system.runs.size())});
  }
  return table.html();
}

std::string definitions() {
  return "<ul>\n"
         "<li>Speed X of a run: images / time from the end of warm-up to the end of the last "
         "step.</li>\n"
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

}  // namespace

std::string report_page(std::span<const StoredRun> runs, const PageOptions& options) {
  const ReportData data = report_data(runs, options.report);
  const bool anonymize = options.report.anonymize;
  HtmlPage page(options.title);
  page.add("systems", "Systems", summary_text(data) + systems_list(data));
  page.add("matrix", "Speed by workload and system", matrix_table(data));
  if (data.systems.size() > 1) {
    page.add("means", "Geometric means", means_table(data) + figures(mean_plot(data)));
    page.add("ratios", "Ratios to the reference", figures(forest_plots(data)));
  }
  page.add("runs", "All runs",
           "<p class=\"soft\">Each dot is a run. The vertical line is the median, and the bar is "
           "its 95% interval. Each drawing has a separate scale, which may not start at 0.</p>\n" +
               figures(dot_plots(data)));
  if (!data.scaling.empty()) {
    page.add("scaling", "Scaling by number of devices",
             scaling_table(data) + figures(scaling_plots(data)));
  }
  page.add("energy", "Images per joule", energy_table(data));
  if (options.cost) page.add("cost", "Images per cost", cost_table(data, *options.cost));
  page.add("bounds", "What limits each workload", bounds_table(data));
  page.add("quality", "Quality", quality_table(data));
  page.add("published", "Published figures, for comparison",
           "<p>bench did not measure these speeds. Software, data and what is counted differ "
           "between sources.</p>\n" +
               published_table(),
           "apart");
  page.add("definitions", "Definitions", definitions());
  page.add("disclosure", "Full disclosure", disclosure(data, anonymize));
  return page.html(embedded_data(data, anonymize));
}

}  // namespace bench::results
