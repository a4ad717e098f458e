#include "results/report/prices.h"

#include <algorithm>
#include <set>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/formats/record_view.h"
#include "results/page/markup.h"

namespace bench::results {
namespace {

/// The name without --anonymize, and the machine.
std::string system_text(const ReportSystem& system) {
  const StoredRun& run = *system.runs.front();
  const auto tag = run.tags.find("system");
  return tag == run.tags.end() ? run.machine : fmt::format("{}, {}", tag->second, run.machine);
}

void add_given_prices(ReportData& data, std::span<const SystemPrice> given) {
  std::set<const SystemPrice*> used;
  std::string names;
  for (ReportSystem& system : data.systems) {
    const SystemPrice* price = price_of(given, system.name, system_text(system));
    if (price != nullptr) {
      system.price = *price;
    }
    used.insert(price);
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", system.name);
  }
  for (const SystemPrice& price : given) {
    if (!used.contains(&price)) {
      throw UsageError(
          fmt::format("--cost: the entry with \"match\": \"{}\" sets the price of no system; the "
                      "systems are {}",
                      printable(price.match), names));
    }
  }
}

/// `cost` of a record.
std::optional<SystemPrice> recorded_price(const nlohmann::json& record) {
  if (field(record, "cost.currency") == nullptr) {
    return std::nullopt;
  }
  return SystemPrice{.currency = text_field(record, "cost.currency"),
                     .capex = number_field(record, "cost.capex"),
                     .hourly = number_field(record, "cost.hourly"),
                     .watts = number_field(record, "cost.watts"),
                     .years = number_field(record, "cost.years"),
                     .utilization = number_field(record, "cost.utilization"),
                     .kwh_price = number_field(record, "cost.kwh_price"),
                     .pue = number_field(record, "cost.pue")};
}

void add_recorded_price(ReportSystem& system) {
  const nlohmann::json* seen = nullptr;
  for (const StoredRun* run : system.runs) {
    const nlohmann::json* cost = field(run->record, "cost");
    if (cost == nullptr) {
      continue;
    }
    if (seen != nullptr && *seen != *cost) {
      throw UsageError(fmt::format(
          "the records of '{}' have different prices; give the right one with --cost=FILE",
          system.name));
    }
    seen = cost;
    system.price = recorded_price(run->record);
  }
  if (!system.price) {
    return;
  }
  if (const std::string fault = price_fault(*system.price); !fault.empty()) {
    throw UsageError(fmt::format("the price in the records of '{}' {}; give one with --cost=FILE",
                                 system.name, fault));
  }
}

}  // namespace

void add_prices(ReportData& data, std::span<const SystemPrice> given) {
  if (!given.empty()) {
    add_given_prices(data, given);
    return;
  }
  std::set<std::string> currencies;
  for (ReportSystem& system : data.systems) {
    add_recorded_price(system);
    if (system.price) {
      currencies.insert(system.price->currency);
    }
  }
  if (currencies.size() > 1) {
    throw UsageError(fmt::format(
        "the records have prices in {} and {}; give prices in one currency with --cost=FILE",
        *currencies.begin(), *currencies.rbegin()));
  }
}

bool has_prices(const ReportData& data) {
  return std::any_of(data.systems.begin(), data.systems.end(),
                     [](const ReportSystem& system) { return system.price.has_value(); });
}

std::string prices_table(const ReportData& data) {
  HtmlTable table("What an hour of use costs",
                  {"system", "price", "cost of an hour of use", "assumptions"}, {1, 3});
  for (const ReportSystem& system : data.systems) {
    if (!system.price) {
      table.row({html_text(system.name), "no price given", "unknown", ""});
      continue;
    }
    const SystemPrice& price = *system.price;
    table.row({html_text(system.name), html_text(price_text(price)),
               fmt::format("{} {}", short_number(cost_per_hour(price)), html_text(price.currency)),
               html_text(price_assumptions(price))});
  }
  return table.html() +
         "<p class=\"soft\">Cost of an hour of use: the rent, or price / hours of use + "
         "electricity. "
         "Cost per million images, tokens or examples: cost of an hour / millions in an hour."
         "</p>\n";
}

}  // namespace bench::results
