#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench::results {

/// The cost of one system: bought, or rented by the hour.
struct SystemCost {
  std::string match{};            ///< Part of the system's text.
  std::optional<double> capex{};  ///< Price of the machine.
  std::optional<double> hourly{};
  std::optional<double> watts{};  ///< At the wall, while it computes.
};

/// The --cost file.
struct CostModel {
  std::string currency{};
  double years = 4;
  double utilization = 1;  ///< Fraction of the time in which the machine computes.
  double kwh_price = 0;
  double pue = 1;  ///< Power of the building / power of its machines.
  std::vector<SystemCost> systems{};
};

/// Reads {"currency": "EUR", "years": 4, "utilization": 0.8, "kwh_price": 0.25, "pue": 1.3,
/// "systems": [{"match": "EPYC", "capex": 9000, "watts": 400}, {"match": "H100", "hourly": 2.5}]}.
/// Throws UsageError: one sentence with the file and the member.
CostModel read_cost_file(const std::filesystem::path& path);

/// The first entry whose `match` is a part of `text`; null without a match.
const SystemCost* cost_of(const CostModel& model, const std::string& text);

/// Images per unit of currency at `speed` X images per second.
/// Rented: 3600 X / hourly.
/// Bought: 3600 X 8760 years utilization / (capex + 8760 years pue watts / 1000 kwh_price).
/// Empty if it is bought, a price per kWh is given and the power is unknown.
std::optional<double> images_per_currency(const CostModel& model, const SystemCost& cost,
                                          double speed);

}  // namespace bench::results
