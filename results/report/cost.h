#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::results {

/// What one system costs: bought (`capex`) or rented by the hour (`hourly`).
struct SystemPrice {
  std::string match{};  ///< Part of the system's text; empty: any system.
  std::string currency{};
  std::optional<double> capex{};
  std::optional<double> hourly{};
  std::optional<double> watts{};        ///< At the wall, while it computes.
  std::optional<double> years{};        ///< Time of use.
  std::optional<double> utilization{};  ///< Fraction of the time in use; empty: 1 is assumed.
  std::optional<double> kwh_price{};    ///< Empty: electricity is not counted.
  std::optional<double> pue{};  ///< Power of the building / of its machines; empty: 1 is assumed.
};

/// Reads the file of `bench --cost` and `bench_results report --cost`. An error is a UsageError,
/// one sentence with the file and the member. For example:
///
/// {"currency": "EUR", "years": 4, "utilization": 0.8, "kwh_price": 0.25, "pue": 1.3,
///  "systems": [{"match": "EPYC", "capex": 9000, "watts": 400}, {"match": "H100", "hourly": 2.5}]}
std::vector<SystemPrice> read_cost_file(const std::filesystem::path& path);

/// What is missing or wrong, as "needs 'years'..."; empty if the price is complete.
std::string price_fault(const SystemPrice& price);

/// The entry whose `match` is `name`, else the first whose `match` is a part of `name` or `text`;
/// null without a match.
const SystemPrice* price_of(std::span<const SystemPrice> prices, std::string_view name,
                            std::string_view text);

/// The cost of one hour of use, of a price without fault.
/// Rented: hourly. Bought: capex / (8760 years utilization) + pue watts / 1000 kwh_price.
double cost_per_hour(const SystemPrice& price);

/// The cost of a million units at `speed` units per second.
double cost_per_million(const SystemPrice& price, double speed);

/// "9,000 EUR", "2.50 EUR per hour" or "free".
std::string price_text(const SystemPrice& price);

/// How the cost of an hour follows from the price, with every value that was assumed.
std::string price_assumptions(const SystemPrice& price);

}  // namespace bench::results
