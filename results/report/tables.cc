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
  return cat("[", short_number(interval->low), ", ", short_number(interval->high), "]");
}

std::string summary_cell(const stats::GroupSummary& summary) {
  if (summary.interval) {
    return cat(short_number(summary.median), "<small>", interval_text(summary.interval),
               "</small>");
  }
  return cat(short_number(summary.median), "<small>", short_number(summary.min), " to ",
             short_number(summary.max), ", no 95% interval: ", summary.n,
             summary.n == 1 ? " run" : " runs", "</small>");
}

/// Marks an interval that excludes equality as faster or slower, by a sign as well as by colour.
std::string ratio_line(const stats::Shift& ratio) {
  const RatioText text = ratio_text(ratio.estimate, ratio.interval);
  if (!ratio.interval) return cat("<small>", text.ratio, ", too few runs</small>");
  const char* sign = ratio.interval->low > 0 ? "▲ " : ratio.interval->high < 0 ? "▼ " : "= ";
  return cat("<small>", sign, text.ratio, " ", text.interval, "</small>");
}

}  // namespace

std::string matrix_table(const ReportData& data) {
  HtmlTable table(cat("Images per second: median, [95% interval of the median], ratio to ",
                      html_text(data.systems.front().name),
                      " with its 95% interval. ▲ faster, ▼ slower, = the interval holds equality"),
                  with_systems("work", data));
  for (const ReportRow& row : data.rows) {
    std::vector<std::string> cells{html_text(row.name)};
    for (const ReportCell& cell : row.cells) {
      if (cell.empty()) {
        cells.emplace_back("<span class=\"soft\">not run</span>");
        continue;
      }
      cells.push_back(summary_cell(cell.speed) +
                      (cell.log_ratio ? ratio_line(*cell.log_ratio) : ""));
    }
    table.row(cells);
  }
  return cat("<div class=\"matrix\">", table.html(), "</div>\n");
}

std::string means_table(const ReportData& data) {
  HtmlTable table(cat("Geometric mean of the ratios to ", html_text(data.systems.front().name),
                      "; 95% interval by bootstrap over runs, works fixed"),
                  {"system", "mean", "95% interval", "works in it"});
  for (const ReportSystem& system : data.systems) {
    if (&system == &data.systems.front()) {
      table.row({html_text(system.name), "reference", "", ""});
    } else if (!system.geometric_mean) {
      table.row({html_text(system.name), "no work in common", "", "0"});
    } else {
      const stats::GeometricMean& mean = *system.geometric_mean;
      const RatioText text = ratio_text(mean.log_ratio, mean.interval);
      table.row({html_text(system.name), text.ratio, mean.interval ? text.interval : "too few runs",
                 cat(system.works_in_mean, " of ", data.rows.size())});
    }
  }
  return table.html();
}

std::string energy_table(const ReportData& data) {
  HtmlTable table(
      "Images per joule: median and [95% interval] of the runs; by what the records measured, "
      "which "
      "is not the power at the wall",
      with_systems("work", data));
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
  return cat("<p>No record knows its energy", why.empty() ? "" : cat(" (", html_text(why), ")"),
             ".</p>\n");
}

std::string cost_table(const ReportData& data, const CostModel& cost) {
  HtmlTable table(cat("Images per ", html_text(cost.currency),
                      ", in thousands, and [95% interval], which is that "
                      "of the speed"),
                  with_systems("work", data));
  for (const ReportRow& row : data.rows) {
    std::vector<std::string> cells{html_text(row.name)};
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ReportCell& cell = row.cells[i];
      const SystemCost* entry =
          cost_of(cost, cat(data.systems[i].name, ", ", data.systems[i].about));
      const auto thousands = [&](double speed) {
        const auto images =
            entry == nullptr ? std::nullopt : images_per_currency(cost, *entry, speed);
        return images ? std::optional(*images / 1e3) : std::nullopt;
      };
      const auto images = cell.empty() ? std::nullopt : thousands(cell.speed.median);
      if (!images) {
        cells.emplace_back(cell.empty()       ? "not run"
                           : entry == nullptr ? "no price given"
                                              : "power not given");
        continue;
      }
      std::string text = short_number(*images);
      if (cell.speed.interval) {
        text += cat("<small>[", short_number(*thousands(cell.speed.interval->low)), ", ",
                    short_number(*thousands(cell.speed.interval->high)), "]</small>");
      }
      cells.push_back(text);
    }
    table.row(cells);
  }
  HtmlTable inputs("What was put in", {"entry", "price", "per hour", "power (W)"});
  for (const SystemCost& entry : cost.systems) {
    const auto shown = [](const std::optional<double>& value) {
      return value ? short_number(*value) : "";
    };
    inputs.row(
        {html_text(entry.match), shown(entry.capex), shown(entry.hourly), shown(entry.watts)});
  }
  return cat(table.html(), inputs.html(),
             "<p>Of a machine that is bought: ", short_number(cost.years), " years, in use ",
             short_number(100 * cost.utilization), "% of the time, ", short_number(cost.kwh_price),
             " ", html_text(cost.currency), " per kWh, PUE ", short_number(cost.pue),
             ". Images per ", html_text(cost.currency),
             " = X · 3600 · 8760 · years · use / (price + 8760 · years · PUE · W/1000 · price per "
             "kWh); rented: X · "
             "3600 / price per hour.</p>\n");
}

std::string bounds_table(const ReportData& data) {
  HtmlTable table(
      "GFLOP/s: median speed × arithmetic of an image. Of the roof: least time of a step, if each "
      "kernel ran at the machine's measured arithmetic or memory speed, over its time",
      {"work", "system", "GFLOP/s", "of the roof", "held back by"}, {1, 4});
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
  HtmlTable table("Speed of k devices / (k × speed of one), with 95% interval",
                  {"work and system", "devices", "efficiency", "interval"});
  for (const ScalingCurve& curve : data.scaling) {
    for (const ScalingPoint& point : curve.points) {
      const auto& interval = point.log_efficiency.interval;
      const auto percent = [](double log) { return short_number(100 * std::exp(log)) + "%"; };
      table.row({html_text(curve.name), cat(point.devices), percent(point.log_efficiency.estimate),
                 interval ? cat("[", percent(interval->low), ", ", percent(interval->high), "]")
                          : "too few runs"});
    }
  }
  return table.html();
}

std::string published_table() {
  HtmlTable table("Speeds that others published, as their sources give them",
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
