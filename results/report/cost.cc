#include "results/report/cost.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench::results {
namespace {

using nlohmann::json;

constexpr double kHoursPerYear = 8760;

/// Reads numbers of one object of the file, and knows all valid names.
class CostReader {
 public:
  CostReader(std::string file, const json& object, std::string where)
      : file_(std::move(file)), object_(object), where_(std::move(where)) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw UsageError(fmt::format("--cost={}: {}", printable(file_), why));
  }

  std::optional<double> number(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end() || found->is_null()) {
      return std::nullopt;
    }
    if (!found->is_number() || !std::isfinite(found->get<double>()) || found->get<double>() < 0) {
      fail(fmt::format("'{}' in {} must be a number of 0 or more", name, where_));
    }
    return found->get<double>();
  }

  std::string text(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_string() || found->get<std::string>().empty()) {
      fail(fmt::format("{} needs a non-empty string '{}'", where_, name));
    }
    return found->get<std::string>();
  }

  template <std::size_t kCount>
  void check_names(const std::array<const char*, kCount>& known) const {
    if (!object_.is_object()) {
      fail(fmt::format("{} must be a JSON object", where_));
    }
    for (const auto& [name, value] : object_.items()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        continue;
      }
      std::string names;
      for (const char* one : known) {
        names += names.empty() ? one : fmt::format(", {}", one);
      }
      fail(fmt::format("{} has the unknown member '{}'; it accepts {}", where_, printable(name),
                       names));
    }
  }

 private:
  std::string file_;
  const json& object_;
  std::string where_;
};

SystemPrice read_entry(const std::string& file, const json& entry, const SystemPrice& common,
                       std::size_t index, bool only) {
  const std::string where = fmt::format("systems[{}]", index);
  const CostReader reader(file, entry, where);
  reader.check_names(std::array{"match", "capex", "hourly", "watts"});
  SystemPrice price = common;
  if (!only || entry.contains("match")) {
    price.match = reader.text("match");
  }
  price.capex = reader.number("capex");
  price.hourly = reader.number("hourly");
  price.watts = reader.number("watts");
  if (const std::string fault = price_fault(price); !fault.empty()) {
    reader.fail(fmt::format("{} {}", where, fault));
  }
  return price;
}

/// Two digits after the point, and commas: "9,000", "2.50", "0.0312".
std::string amount(double value) {
  if (value >= 1000 || (value >= 1 && value == std::floor(value))) {
    std::string digits = fmt::format("{:.0f}", value);
    for (std::size_t i = digits.size(); i > 3; i -= 3) {
      digits.insert(i - 3, 1, ',');
    }
    return digits;
  }
  return value >= 0.1 || value == 0 ? fmt::format("{:.2f}", value) : fmt::format("{:.3g}", value);
}

std::string electricity_text(const SystemPrice& price) {
  if (!price.kwh_price) {
    return "Electricity is not counted, because no price per kWh is given.";
  }
  return fmt::format("Electricity for the hours of use: {} W at the wall × PUE {} × {} {} per kWh.",
                     amount(*price.watts),
                     price.pue ? fmt::format("{:g}", *price.pue) : "1 (assumed)",
                     amount(*price.kwh_price), price.currency);
}

/// True if `text` contains `words`, and not as a part of longer words: "a" is not in "AMD".
bool has_words(std::string_view text, std::string_view words) {
  const auto is_word = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1)) {
    const std::size_t end = at + words.size();
    const bool begins = at == 0 || !is_word(at - 1) || !is_word(at);
    if (words.empty() || (begins && (!is_word(end) || !is_word(end - 1)))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string price_fault(const SystemPrice& price) {
  if (price.capex.has_value() == price.hourly.has_value()) {
    return "needs either 'capex' or 'hourly', and not both";
  }
  if (price.hourly) {
    return "";
  }
  if (!price.years || *price.years <= 0) {
    return "has 'capex', so the file needs 'years' above 0";
  }
  if (price.utilization && (*price.utilization <= 0 || *price.utilization > 1)) {
    return "has 'capex', so 'utilization' must be above 0 and at most 1";
  }
  if (price.kwh_price && !price.watts) {
    return "needs 'watts', because the file has a 'kwh_price'";
  }
  return "";
}

std::vector<SystemPrice> read_cost_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw UsageError(fmt::format("--cost={}: cannot open the file", printable(path.string())));
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const json root = json::parse(text, nullptr, false);
  const CostReader reader(path.string(), root, "the file");
  if (root.is_discarded()) {
    reader.fail("the file is not valid JSON");
  }
  reader.check_names(std::array{"currency", "years", "utilization", "kwh_price", "pue", "systems"});
  const SystemPrice common{.currency = reader.text("currency"),
                           .years = reader.number("years"),
                           .utilization = reader.number("utilization"),
                           .kwh_price = reader.number("kwh_price"),
                           .pue = reader.number("pue")};
  const auto systems = root.find("systems");
  if (systems == root.end() || !systems->is_array() || systems->empty()) {
    reader.fail("the file needs an array 'systems' with at least one entry");
  }
  std::vector<SystemPrice> prices;
  for (std::size_t i = 0; i < systems->size(); ++i) {
    prices.push_back(read_entry(path.string(), (*systems)[i], common, i, systems->size() == 1));
  }
  return prices;
}

const SystemPrice* price_of(std::span<const SystemPrice> prices, std::string_view name,
                            std::string_view text) {
  for (const SystemPrice& price : prices) {
    if (price.match == name) {
      return &price;
    }
  }
  for (const SystemPrice& price : prices) {
    if (has_words(name, price.match) || has_words(text, price.match)) {
      return &price;
    }
  }
  return nullptr;
}

double cost_per_hour(const SystemPrice& price) {
  if (price.hourly) {
    return *price.hourly;
  }
  const double hours = kHoursPerYear * *price.years * price.utilization.value_or(1);
  const double kilowatts = price.pue.value_or(1) * price.watts.value_or(0) / 1000;
  return *price.capex / hours + kilowatts * price.kwh_price.value_or(0);
}

double cost_per_million(const SystemPrice& price, double speed) {
  constexpr double kSecondsPerHour = 3600;
  return cost_per_hour(price) * 1e6 / (kSecondsPerHour * speed);
}

std::string price_text(const SystemPrice& price) {
  if (cost_per_hour(price) == 0) {
    return "free";
  }
  if (price.hourly) {
    return fmt::format("{} {} per hour", amount(*price.hourly), price.currency);
  }
  return fmt::format("{} {}", amount(*price.capex), price.currency);
}

std::string price_assumptions(const SystemPrice& price) {
  if (price.hourly) {
    return "Rented, and paid for the hours of use only. The rent includes electricity (assumed).";
  }
  const double hours = kHoursPerYear * *price.years * price.utilization.value_or(1);
  return fmt::format(
      "Bought, and used for {:g} years, {} of the time: {} hours of use. {}", *price.years,
      price.utilization ? fmt::format("{:g}%", 100 * *price.utilization) : "100% (assumed)",
      amount(std::round(hours)), electricity_text(price));
}

}  // namespace bench::results
