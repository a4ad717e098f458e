#include "results/report/tables.h"

#include <algorithm>
#include <cmath>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/page/markup.h"
#include "results/report/held_back.h"
#include "results/report/lead.h"
#include "results/report/published.h"

namespace bench::results {
namespace {

std::vector<std::string> with_systems(const char* first, const ReportData& data) {
  std::vector<std::string> headings{first};
  for (const ReportSystem& system : data.systems) headings.push_back(html_text(system.name));
  return headings;
}

std::string interval_text(const std::optional<stats::Interval>& interval) {
  if (!interval) return "";
  return fmt::format("[{}, {}]", short_number(interval->low), short_number(interval->high));
}

std::string summary_cell(const stats::GroupSummary& summary) {
  if (summary.interval) {
    return fmt::format("{}<small>{}</small>", short_number(summary.median),
                       interval_text(summary.interval));
  }
  if (summary.n == 1) {
    return fmt::format("{}<small>1 run, no 95% interval</small>", short_number(summary.median));
  }
  return fmt::format("{}<small>{} to {} ({} runs, no 95% interval)</small>",
                     short_number(summary.median), short_number(summary.min),
                     short_number(summary.max), summary.n);
}

/// Disturbances may explain a ratio between marked cells.
std::string ratio_line(const stats::Shift& ratio, bool disturbed) {
  const RatioText text = ratio_text(ratio.estimate, ratio.interval);
  if (!ratio.interval) return fmt::format("<small>{}, too few runs</small>", text.ratio);
  return fmt::format("<small>{}{} {}</small>", disturbed ? "? " : "", text.ratio, text.interval);
}

/// The mark of the best cell: `best`, with how sure that is.
std::string best_mark(const Lead& lead, std::size_t system, const char* best) {
  if (!lead.why_none.empty() || lead.best != system) return "";
  if (lead.sure == Sure::kCertain) {
    return fmt::format(" <span class=\"tag certain\">{}</span>", best);
  }
  if (lead.sure == Sure::kProbably) {
    return fmt::format(" <span class=\"tag likely\">probably {}</span>", best);
  }
  return fmt::format(" <span class=\"tag\">{}? cannot tell</span>", best);
}

std::string run_notes(const ReportCell& cell) {
  std::string notes;
  if (cell.disturbed.too_many()) {
    notes += fmt::format("<small class=\"warn\">⚠ disturbed: {} of {} runs</small>",
                         cell.disturbed.disturbed, cell.disturbed.runs);
  }
  if (!cell.speed.interval) {
    notes += cell.runs.size() == 1
                 ? "<small class=\"warn\">1 run only</small>"
                 : fmt::format("<small class=\"warn\">{} runs only</small>", cell.runs.size());
  }
  return notes;
}

/// Speed, its share of the fastest as text and bar, and the cost.
std::string speed_cell(const ReportData& data, const ReportRow& row, std::size_t system,
                       const Lead& speed, const Lead& cost) {
  const ReportCell& cell = row.cells[system];
  if (cell.empty()) return "<span class=\"soft\">not run</span>";
  double fastest = 0;
  for (const ReportCell& each : row.cells) {
    if (!each.empty()) fastest = std::max(fastest, each.speed.median);
  }
  const double share = cell.speed.median / fastest;
  std::string html =
      fmt::format(R"(<b>{}</b> {}/s{}<span class="bar"><span style="width:{}%"></span></span>)",
                  short_number(cell.speed.median), row.unit, best_mark(speed, system, "fastest"),
                  coordinate(100 * share));
  if (share < 1) html += fmt::format("<small>{}× the fastest</small>", short_number(share));
  if (const auto& price = data.systems[system].price) {
    const double per_million = cost_per_million(*price, cell.speed.median);
    const std::string text = per_million == 0
                                 ? "free"
                                 : fmt::format("{} {} per million {}", short_number(per_million),
                                               html_text(price->currency), row.unit);
    html += fmt::format("<small class=\"cost\">{}{}</small>", text,
                        best_mark(cost, system, "cheapest"));
  }
  return html + run_notes(cell);
}

/// The row's name with the unit of its numbers.
std::string row_heading(const ReportRow& row, const char* per) {
  return fmt::format("{}<small>{}{}</small>", html_text(row.name), row.unit, per);
}

}  // namespace

std::string matrix_table(const ReportData& data) {
  HtmlTable table(
      "Median speed of each workload on each system. The longest bar is the fastest system.",
      with_systems("workload", data));
  table.as_cards();
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const Lead speed = lead_of(data, {i}, Measure::kSpeed);
    const Lead cost = lead_of(data, {i}, Measure::kCost);
    std::vector<std::string> cells{html_text(data.rows[i].name)};
    for (std::size_t system = 0; system < data.systems.size(); ++system) {
      cells.push_back(speed_cell(data, data.rows[i], system, speed, cost));
    }
    table.row(cells);
  }
  return fmt::format("<div class=\"matrix\">{}</div>\n", table.html());
}

std::string intervals_table(const ReportData& data) {
  HtmlTable table(fmt::format("Speed: the median, its [95% interval], and the ratio to {} with its "
                              "95% interval. An interval that contains 1 is inconclusive. ? means "
                              "that the runs of one of the two were disturbed.",
                              html_text(data.systems.front().name)),
                  with_systems("workload", data));
  for (const ReportRow& row : data.rows) {
    std::vector<std::string> cells{row_heading(row, "/s")};
    for (const ReportCell& cell : row.cells) {
      if (cell.empty()) {
        cells.emplace_back("<span class=\"soft\">not run</span>");
        continue;
      }
      const bool disturbed = cell.is_disturbed_next_to(row.cells.front());
      cells.push_back(summary_cell(cell.speed) +
                      (cell.log_ratio ? ratio_line(*cell.log_ratio, disturbed) : ""));
    }
    table.row(cells);
  }
  return table.html();
}

std::string means_table(const ReportData& data) {
  HtmlTable table(
      fmt::format("Geometric mean of the ratios to {}. The 95% interval is from a bootstrap over "
                  "runs with fixed workloads.",
                  html_text(data.systems.front().name)),
      {"system", "mean", "95% interval", "workloads"});
  for (const ReportSystem& system : data.systems) {
    if (&system == &data.systems.front()) {
      table.row({html_text(system.name), "reference", "", ""});
    } else if (!system.geometric_mean) {
      table.row({html_text(system.name), "no workload in common", "", "0"});
    } else {
      const stats::GeometricMean& mean = *system.geometric_mean;
      const RatioText text = ratio_text(mean.log_ratio, mean.interval);
      table.row({html_text(system.name), text.ratio, mean.interval ? text.interval : "too few runs",
                 fmt::format("{} of {}", system.workloads_in_mean, data.rows.size())});
    }
  }
  return table.html();
}

bool has_energy(const ReportData& data) {
  return std::any_of(data.rows.begin(), data.rows.end(), [](const ReportRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const ReportCell& cell) { return cell.units_per_joule.has_value(); });
  });
}

std::string energy_table(const ReportData& data) {
  HtmlTable table(
      "Work per joule: median and [95% interval] of the runs. The energy is that in the records, "
      "not the energy at the wall.",
      with_systems("workload", data));
  bool any = false;
  for (const ReportRow& row : data.rows) {
    std::vector<std::string> cells{row_heading(row, "/J")};
    bool known = false;
    for (const ReportCell& cell : row.cells) {
      cells.push_back(cell.units_per_joule ? summary_cell(*cell.units_per_joule) : "unknown");
      known = known || cell.units_per_joule.has_value();
    }
    if (known) table.row(cells);
    any = any || known;
  }
  if (any) return table.html();
  const StoredRun& run = *data.systems.front().runs.front();
  std::string why;
  if (const auto* errors = field(run.record, "capture_errors"); errors != nullptr) {
    why = errors->value("energy.joules",
                        errors->value(fmt::format("metrics.{}.value", energy_metric(run)), ""));
  }
  if (why.empty()) return "<p>No record contains its energy.</p>\n";
  return fmt::format("<p>No record contains its energy ({}).</p>\n", html_text(why));
}

std::string bounds_table(const ReportData& data) {
  HtmlTable table(
      "GFLOP/s: arithmetic at the median speed. Of the roofline: the minimum time of a step / "
      "its time. In the minimum time, each kernel runs at the machine's measured arithmetic or "
      "memory speed.",
      {"workload", "system", "GFLOP/s", "of the roofline", "limited by"}, {1, 4});
  for (const ReportRow& row : data.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ReportCell& cell = row.cells[i];
      if (cell.empty()) continue;
      table.row({html_text(row.name), html_text(data.systems[i].name),
                 cell.gigaflops ? short_number(*cell.gigaflops) : "unknown",
                 cell.roof_share ? short_number(100 * *cell.roof_share) + "%" : "not measured",
                 html_text(held_back_by(cell.runs))});
    }
  }
  return table.html();
}

std::string scaling_table(const ReportData& data) {
  if (data.scaling.empty()) return "";
  HtmlTable table("Speed of k devices / (k × speed of one), with its 95% interval",
                  {"workload and system", "devices", "efficiency", "interval"});
  for (const ScalingCurve& curve : data.scaling) {
    for (const ScalingPoint& point : curve.points) {
      const auto& interval = point.log_efficiency.interval;
      const auto percent = [](double log) { return short_number(100 * std::exp(log)) + "%"; };
      table.row({html_text(curve.name), std::to_string(point.devices),
                 percent(point.log_efficiency.estimate),
                 interval ? fmt::format("[{}, {}]", percent(interval->low), percent(interval->high))
                          : "too few runs"});
    }
  }
  return table.html();
}

std::string published_table() {
  HtmlTable table("Published speeds, as stated by their sources",
                  {"hardware", "model", "setting", "images/s", "source", "date or version"},
                  {1, 2, 4, 5});
  for (const PublishedFigure& figure : published_figures()) {
    table.row({html_text(figure.hardware), html_text(figure.model), html_text(figure.setting),
               short_number(figure.images_per_sec), html_text(figure.source),
               html_text(figure.date)});
  }
  return table.html();
}

}  // namespace bench::results
