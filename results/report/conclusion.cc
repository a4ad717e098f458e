#include "results/report/conclusion.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/base/errors.h"
#include "results/page/markup.h"
#include "results/report/lead.h"
#include "results/report/prices.h"
#include "results/store/members.h"

namespace bench::results {
namespace {

std::string name_of(const ReportData& data, std::size_t system) {
  return html_text(data.systems[system].name);
}

bool decides(const Lead& lead) { return lead.why_none.empty() && lead.sure != Sure::kCannotTell; }

/// "1.52× the speed of B", or "0.66× the cost of B".
std::string lead_ratio(const ReportData& data, const Lead& lead, Measure measure) {
  if (lead.free) {
    return "It is free.";
  }
  const bool speed = measure == Measure::kSpeed;
  const RatioText text = ratio_text(speed ? lead.log_ratio : -lead.log_ratio, std::nullopt);
  return fmt::format("{} the {} of {}", text.ratio, speed ? "speed" : "cost",
                     name_of(data, lead.next));
}

std::string sure_tag(Sure sure) {
  const char* style = sure == Sure::kCertain ? "certain" : sure == Sure::kProbably ? "likely" : "";
  return fmt::format("<span class=\"tag {}\">{}</span>", style, sure_word(sure));
}

/// One answer, in a card: "Fastest", the system, by how much, and how sure.
std::string answer_card(const ReportData& data, const Lead& lead, Measure measure) {
  const std::string question =
      measure == Measure::kSpeed ? "Fastest" : "Cheapest per " + common_unit(data);
  if (!lead.why_none.empty()) {
    return fmt::format(
        "<div class=\"answer\"><p>{}</p><p class=\"who\">cannot tell</p><p>{}</p></div>\n",
        question, lead.why_none);
  }
  if (lead.sure == Sure::kCannotTell) {
    return fmt::format(
        "<div class=\"answer\"><p>{}</p><p class=\"who\">cannot tell</p>\n"
        "<p>The first two are {} and {}. {}</p></div>\n",
        question, name_of(data, lead.best), name_of(data, lead.next),
        lead.log_ratio < std::log(kLeastLead) ? "They differ by less than 1%."
        : lead.disturbed                      ? "Too many of their runs were disturbed."
                                              : "The runs vary too much to decide.");
  }
  return fmt::format("<div class=\"answer\"><p>{}</p><p class=\"who\">{}</p>\n<p>{} {}</p></div>\n",
                     question, name_of(data, lead.best), lead_ratio(data, lead, measure),
                     sure_tag(lead.sure));
}

/// "A is 1.5× as fast as B and costs 1.4× as much per image." Or another unit.
std::string trade_off(const ReportData& data, const Lead& speed, const Lead& cost) {
  const auto& slower = speed.log_ratios[cost.best];
  const auto& dearer = cost.log_ratios[speed.best];
  if (!slower || !dearer) {
    return "";
  }
  return fmt::format(" {} is {} as fast as {} and costs {} as much per {}.",
                     name_of(data, speed.best), ratio_text(-*slower, std::nullopt).ratio,
                     name_of(data, cost.best), ratio_text(*dearer, std::nullopt).ratio,
                     common_unit(data));
}

struct Advice {
  std::string headline{};
  std::string reason{};
};

Advice choice(const std::string& what, Sure sure, std::string reason) {
  return {.headline = fmt::format(
              "{}: {}", sure == Sure::kCertain ? "Best choice" : "Probably the best choice", what),
          .reason = std::move(reason)};
}

/// The systems whose price is 0.
std::vector<std::size_t> free_systems(const ReportData& data) {
  std::vector<std::size_t> systems;
  for (std::size_t i = 0; i < data.systems.size(); ++i) {
    if (data.systems[i].price && cost_per_hour(*data.systems[i].price) == 0) {
      systems.push_back(i);
    }
  }
  return systems;
}

/// The advice if the fastest system is known, but not the cheapest one.
Advice fastest_only(const ReportData& data, const Lead& speed, const Lead& cost) {
  const std::string fastest = name_of(data, speed.best);
  const std::vector<std::size_t> free = free_systems(data);
  if (std::find(free.begin(), free.end(), speed.best) != free.end()) {
    return choice(fastest, speed.sure, "It is the fastest, and it is free.");
  }
  if (free.size() > 1) {
    std::string names = name_of(data, free.front());
    for (std::size_t i = 1; i < free.size(); ++i) {
      names += (i + 1 < free.size() ? ", " : " and ") + name_of(data, free[i]);
    }
    return {.headline = fmt::format("{} are free; {} is {}the fastest", names, fastest,
                                    speed.sure == Sure::kCertain ? "" : "probably "),
            .reason = fmt::format("{} is not free.", fastest)};
  }
  if (!has_prices(data)) {
    return choice(fastest, speed.sure,
                  "It is the fastest. Without prices (<code>--cost=FILE</code>), this page cannot "
                  "tell which system is the cheapest.");
  }
  return choice(fastest, speed.sure,
                "It is the fastest. " + (cost.why_none.empty()
                                             ? "The runs do not show which system is the cheapest."
                                             : cost.why_none));
}

Advice advice_of(const ReportData& data, const Lead& speed, const Lead& cost) {
  if (data.systems.size() < 2) {
    return {.headline = "Only one system was measured",
            .reason = "There is nothing to choose from."};
  }
  const std::string fastest = name_of(data, speed.best);
  const std::string cheapest = name_of(data, cost.best);
  const std::string unit = common_unit(data);
  if (!decides(speed) && !decides(cost)) {
    return {.headline = "These runs do not show which system is the best choice",
            .reason =
                "Measure every workload on every system, at least 6 times, on quiet "
                "machines."};
  }
  if (!decides(cost)) {
    return fastest_only(data, speed, cost);
  }
  if (!decides(speed)) {
    return choice(cheapest, cost.sure,
                  fmt::format("It costs least per {}. The runs do not show which system is the "
                              "fastest.",
                              unit));
  }
  const Sure sure = std::max(speed.sure, cost.sure);
  if (speed.best == cost.best) {
    return choice(fastest, sure,
                  fmt::format("It is the fastest, and it costs least per {}.", unit));
  }
  return choice(
      fmt::format("{} for cost, {} for speed", cheapest, fastest), sure,
      fmt::format("{} costs least per {}.{}", cheapest, unit, trade_off(data, speed, cost)));
}

/// One line if runs were disturbed: how many, and on which systems.
std::string disturbance_banner(const ReportData& data) {
  std::size_t disturbed = 0;
  std::size_t all = 0;
  std::string where;
  for (const ReportSystem& system : data.systems) {
    const std::size_t count = disturbed_runs(system.runs).disturbed;
    disturbed += count;
    all += system.runs.size();
    if (count > 0) {
      where += fmt::format("{}{} ({} of {})", where.empty() ? "" : ", ", html_text(system.name),
                           count, system.runs.size());
    }
  }
  if (disturbed == 0) {
    return "";
  }
  return fmt::format(
      "<p class=\"banner\" role=\"note\"><b>Disturbed runs: {} of {}</b>, {}. "
      "They may be too slow. A result is certain only from 6 undisturbed runs of each workload on "
      "each system, so measure again on quiet machines.</p>\n",
      disturbed, all, where);
}

/// The warnings that all runs of the system have, such as a variable that slows them.
std::vector<std::string> shared_warnings(const ReportSystem& system) {
  std::map<std::string, std::size_t> counts;
  for (const StoredRun* run : system.runs) {
    const nlohmann::json* warnings = member_at(run->record, "quality.warnings");
    if (warnings == nullptr || !warnings->is_array()) continue;
    std::set<std::string> once;
    for (const nlohmann::json& warning : *warnings) {
      if (warning.is_string()) once.insert(warning.get<std::string>());
    }
    for (const std::string& warning : once) ++counts[warning];
  }
  std::vector<std::string> shared;
  for (const auto& [warning, count] : counts) {
    if (count == system.runs.size()) shared.push_back(warning);
  }
  return shared;
}

/// One line per system whose runs were all measured with the same warnings.
std::string handicap_banners(const ReportData& data) {
  std::string text;
  for (const ReportSystem& system : data.systems) {
    for (const std::string& warning : shared_warnings(system)) {
      text += fmt::format("<p class=\"banner\" role=\"note\"><b>All runs of {}</b>: {}</p>\n",
                          html_text(system.name), html_text(warning));
    }
  }
  return text;
}

/// A bar of `share` of the full width, for comparison at a glance.
std::string bar(double share) {
  return fmt::format(R"(<span class="bar"><span style="width:{}%"></span></span>)",
                     coordinate(100 * std::clamp(share, 0.0, 1.0)));
}

/// "4 workloads", or "3 of 4 workloads" if some system did not run all of them.
std::string compared_text(std::size_t compared, std::size_t all) {
  if (compared != all) {
    return fmt::format("{} of {} workloads, those that all systems ran", compared, all);
  }
  return all == 1 ? "1 workload" : fmt::format("{} workloads", all);
}

/// The result relative to the best one, with its bar.
std::string relative_cell(const Lead& lead, std::size_t system, double most) {
  if (!lead.log_ratios[system]) {
    return "<span class=\"soft\">not compared</span>";
  }
  const double log = *lead.log_ratios[system];
  return fmt::format("{}{}", ratio_text(log, std::nullopt).ratio, bar(std::exp(log) / most));
}

std::vector<std::size_t> by_speed(const ReportData& data, const Lead& speed) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < data.systems.size(); ++i) {
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return speed.log_ratios[a].value_or(-INFINITY) > speed.log_ratios[b].value_or(-INFINITY);
  });
  return order;
}

/// Systems with price, speed and cost.
std::string systems_table(const ReportData& data, const Lead& speed, const Lead& cost) {
  const bool priced = has_prices(data);
  const std::string unit = common_unit(data);
  std::vector<std::string> headings{"system", "speed"};
  if (priced) {
    headings = {"system", "price", "speed", "cost per " + unit};
  }
  HtmlTable table(
      fmt::format(
          "Speed relative to the fastest system{}. Compared: {}.",
          priced
              ? fmt::format(", and cost per {} relative to the cheapest one (less is better)", unit)
              : "",
          compared_text(speed.rows.size(), data.rows.size())),
      headings);
  double dearest = 1;
  for (const auto& ratio : cost.log_ratios) {
    dearest = std::max(dearest, std::exp(ratio.value_or(0)));
  }
  for (const std::size_t i : by_speed(data, speed)) {
    const ReportSystem& system = data.systems[i];
    std::vector<std::string> cells{html_text(system.name)};
    if (priced) {
      cells.push_back(system.price ? html_text(price_text(*system.price)) : "no price given");
    }
    cells.push_back(relative_cell(speed, i, 1));
    if (priced) {
      const bool free = system.price && cost_per_hour(*system.price) == 0;
      cells.push_back(free                        ? "free"
                      : cost.free && system.price ? "not free"
                                                  : relative_cell(cost, i, dearest));
    }
    table.row(cells);
  }
  return fmt::format("<div class=\"glance\">{}</div>\n", table.html());
}

std::string group_cell(const ReportData& data, const Lead& lead, Measure measure) {
  if (!lead.why_none.empty()) {
    return fmt::format("cannot tell<small>{}</small>", lead.why_none);
  }
  if (lead.sure == Sure::kCannotTell) {
    return fmt::format("cannot tell<small>{} or {}</small>", name_of(data, lead.best),
                       name_of(data, lead.next));
  }
  return fmt::format("<b>{}</b> {}<small>{}</small>", name_of(data, lead.best), sure_tag(lead.sure),
                     lead_ratio(data, lead, measure));
}

/// The answers per group of workloads; empty if there is only one group.
std::string groups_table(const ReportData& data) {
  std::vector<std::string> groups;
  for (const ReportRow& row : data.rows) {
    if (groups.empty() || groups.back() != row.group) {
      groups.push_back(row.group);
    }
  }
  if (groups.size() < 2) {
    return "";
  }
  const bool priced = has_prices(data);
  std::vector<std::string> headings{"workloads", "fastest"};
  if (priced) {
    headings.emplace_back("cheapest per " + common_unit(data));
  }
  HtmlTable table("By kind of workload", headings, {1, 2});
  table.as_cards();
  for (const std::string& group : groups) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < data.rows.size(); ++i) {
      if (data.rows[i].group == group) {
        rows.push_back(i);
      }
    }
    const Lead speed = lead_of(data, rows, Measure::kSpeed);
    std::vector<std::string> cells{fmt::format("{}<small>{}</small>", html_text(group),
                                               compared_text(speed.rows.size(), rows.size())),
                                   group_cell(data, speed, Measure::kSpeed)};
    if (priced) {
      cells.push_back(group_cell(data, lead_of(data, rows, Measure::kCost), Measure::kCost));
    }
    table.row(cells);
  }
  return fmt::format("<div class=\"glance\">{}</div>\n", table.html());
}

}  // namespace

std::string conclusion(const ReportData& data) {
  std::vector<std::size_t> rows(data.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = i;
  }
  const Lead speed = lead_of(data, rows, Measure::kSpeed);
  const Lead cost = lead_of(data, rows, Measure::kCost);
  const Advice advice = advice_of(data, speed, cost);
  std::string html = disturbance_banner(data) + handicap_banners(data);
  html += fmt::format("<p class=\"choice\">{}</p>\n<p>{}</p>\n", advice.headline, advice.reason);
  if (data.systems.size() < 2) {
    return html;
  }
  html += "<div class=\"answers\">\n" + answer_card(data, speed, Measure::kSpeed);
  if (has_prices(data)) {
    html += answer_card(data, cost, Measure::kCost);
  }
  return html + "</div>\n<div class=\"pair\">" + systems_table(data, speed, cost) +
         groups_table(data) + "</div>\n";
}

}  // namespace bench::results
