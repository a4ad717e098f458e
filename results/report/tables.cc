#include "results/report/tables.h"

#include <cmath>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/page/markup.h"
#include "results/report/held_back.h"
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

std::string disturbed_line(const ReportCell& cell) {
  if (!cell.disturbed.too_many()) return "";
  return fmt::format("<small class=\"warn\">disturbed: {} of {} runs</small>",
                     cell.disturbed.disturbed, cell.disturbed.runs);
}

/// Marks an interval that excludes equality as faster or slower, unless disturbances may explain
/// it.
std::string ratio_line(const stats::Shift& ratio, bool disturbed) {
  const RatioText text = ratio_text(ratio.estimate, ratio.interval);
  if (!ratio.interval) return fmt::format("<small>{}, too few runs</small>", text.ratio);
  if (disturbed) return fmt::format("<small>? {} {}</small>", text.ratio, text.interval);
  const char* sign = ratio.interval->low > 0 ? "▲ " : ratio.interval->high < 0 ? "▼ " : "= ";
  return fmt::format("<small>{}{} {}</small>", sign, text.ratio, text.interval);
}

}  // namespace

std::string matrix_table(const ReportData& data) {
  HtmlTable table(
      fmt::format("Images per second: the median, its [95% interval], and the ratio to {} with its "
                  "95% interval. ▲ means faster, ▼ slower. = means that the interval includes "
                  "equality, and ? that other programs disturbed one of the two.",
                  html_text(data.systems.front().name)),
      with_systems("workload", data));
  for (const ReportRow& row : data.rows) {
    std::vector<std::string> cells{html_text(row.name)};
    for (const ReportCell& cell : row.cells) {
      if (cell.empty()) {
        cells.emplace_back("<span class=\"soft\">not run</span>");
        continue;
      }
      const bool disturbed = cell.is_disturbed_next_to(row.cells.front());
      cells.push_back(summary_cell(cell.speed) + disturbed_line(cell) +
                      (cell.log_ratio ? ratio_line(*cell.log_ratio, disturbed) : ""));
    }
    table.row(cells);
  }
  return fmt::format("<div class=\"matrix\">{}</div>\n", table.html());
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

std::string energy_table(const ReportData& data) {
  HtmlTable table(
      "Images per joule: median and [95% interval] of the runs. The energy is that in the records, "
      "not the energy at the wall.",
      with_systems("workload", data));
  bool any = false;
  for (const ReportRow& row : data.rows) {
    std::vector<std::string> cells{html_text(row.name)};
    bool known = false;
    for (const ReportCell& cell : row.cells) {
      cells.push_back(cell.images_per_joule ? summary_cell(*cell.images_per_joule) : "unknown");
      known = known || cell.images_per_joule.has_value();
    }
    if (known) table.row(cells);
    any = any || known;
  }
  if (any) return table.html();
  const nlohmann::json& record = data.systems.front().runs.front()->record;
  std::string why;
  if (const auto* errors = field(record, "capture_errors"); errors != nullptr) {
    why = errors->value("energy.joules", errors->value("metrics.joules_per_image.value", ""));
  }
  if (why.empty()) return "<p>No record contains its energy.</p>\n";
  return fmt::format("<p>No record contains its energy ({}).</p>\n", html_text(why));
}

std::string cost_table(const ReportData& data, const CostModel& cost) {
  HtmlTable table(
      fmt::format("Thousands of images per {}, and the [95% interval] that follows from that of "
                  "the speed",
                  html_text(cost.currency)),
      with_systems("workload", data));
  for (const ReportRow& row : data.rows) {
    std::vector<std::string> cells{html_text(row.name)};
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ReportCell& cell = row.cells[i];
      const SystemCost* entry =
          cost_of(cost, fmt::format("{}, {}", data.systems[i].name, data.systems[i].about));
      const auto thousands = [&](double speed) {
        const auto images =
            entry == nullptr ? std::nullopt : images_per_currency(cost, *entry, speed);
        return images ? std::optional(*images / 1e3) : std::nullopt;
      };
      const auto images = cell.empty() ? std::nullopt : thousands(cell.speed.median);
      if (!images) {
        cells.emplace_back(cell.empty()       ? "not run"
                           : entry == nullptr ? "no price given"
                                              : "no power given");
        continue;
      }
      std::string text = short_number(*images);
      if (cell.speed.interval) {
        text += fmt::format("<small>[{}, {}]</small>",
                            short_number(*thousands(cell.speed.interval->low)),
                            short_number(*thousands(cell.speed.interval->high)));
      }
      cells.push_back(text);
    }
    table.row(cells);
  }
  HtmlTable inputs("Inputs of --cost", {"entry", "price", "per hour", "power (W)"});
  for (const SystemCost& entry : cost.systems) {
    const auto shown = [](const std::optional<double>& value) {
      return value ? short_number(*value) : "";
    };
    inputs.row(
        {html_text(entry.match), shown(entry.capex), shown(entry.hourly), shown(entry.watts)});
  }
  const std::string formulas = fmt::format(
      "<p>A machine that is bought runs for {0} years and is in use {1}% of the time. Electricity "
      "costs {2} {3} per kWh, and the PUE is {4}.</p>\n"
      "<p>Images per {3}, where X is the speed. Bought: X · 3600 · 8760 · years · use / (price + "
      "8760 · years · PUE · W/1000 · price per kWh). Rented: X · 3600 / price per hour.</p>\n",
      short_number(cost.years), short_number(100 * cost.utilization), short_number(cost.kwh_price),
      html_text(cost.currency), short_number(cost.pue));
  return table.html() + inputs.html() + formulas;
}

std::string bounds_table(const ReportData& data) {
  HtmlTable table(
      "GFLOP/s: median speed × arithmetic of an image. Of the roof: the minimum time of a step / "
      "its time. In the minimum time, each kernel runs at the machine's measured arithmetic or "
      "memory speed.",
      {"workload", "system", "GFLOP/s", "of the roof", "held back by"}, {1, 4});
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
