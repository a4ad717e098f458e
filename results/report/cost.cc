#include "results/report/cost.h"

#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench::results {
namespace {

using nlohmann::json;

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
    if (found == object_.end()) return std::nullopt;
    if (!found->is_number() || found->get<double>() < 0) {
      fail(fmt::format("'{}' in {} must be a number of 0 or more", name, where_));
    }
    return found->get<double>();
  }

  std::string text(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_string() || found->get<std::string>().empty()) {
      fail(fmt::format("{} needs a non-empty text '{}'", where_, name));
    }
    return found->get<std::string>();
  }

  template <std::size_t kCount>
  void check_names(const std::array<const char*, kCount>& known) const {
    if (!object_.is_object()) fail(fmt::format("{} must be a JSON object", where_));
    for (const auto& [name, value] : object_.items()) {
      bool is_known = false;
      std::string names;
      for (const char* one : known) {
        is_known = is_known || name == one;
        if (!names.empty()) names += ", ";
        names += one;
      }
      if (is_known) continue;
      fail(fmt::format("{} has the unknown member '{}'; it accepts {}", where_, printable(name),
                       names));
    }
  }

 private:
  std::string file_;
  const json& object_;
  std::string where_;
};

SystemCost read_system(const std::string& file, const json& entry, std::size_t index) {
  const CostReader reader(file, entry, fmt::format("systems[{}]", index));
  reader.check_names(std::array{"match", "capex", "hourly", "watts"});
  SystemCost cost{.match = reader.text("match"),
                  .capex = reader.number("capex"),
                  .hourly = reader.number("hourly"),
                  .watts = reader.number("watts")};
  if (cost.capex.has_value() == cost.hourly.has_value()) {
    reader.fail(fmt::format("systems[{}] needs either capex or hourly, and not both", index));
  }
  return cost;
}

}  // namespace

CostModel read_cost_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw UsageError(fmt::format("--cost={}: cannot open the file", printable(path.string())));
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const json root = json::parse(text, nullptr, false);
  const CostReader reader(path.string(), root, "the file");
  if (root.is_discarded()) reader.fail("the file is not valid JSON");
  reader.check_names(std::array{"currency", "years", "utilization", "kwh_price", "pue", "systems"});
  CostModel model{.currency = reader.text("currency")};
  model.years = reader.number("years").value_or(model.years);
  model.utilization = reader.number("utilization").value_or(model.utilization);
  model.kwh_price = reader.number("kwh_price").value_or(model.kwh_price);
  model.pue = reader.number("pue").value_or(model.pue);
  if (model.utilization > 1) reader.fail("'utilization' in the file must be at most 1");
  const auto systems = root.find("systems");
  if (systems == root.end() || !systems->is_array()) reader.fail("the file needs a list 'systems'");
  for (std::size_t i = 0; i < systems->size(); ++i) {
    model.systems.push_back(read_system(path.string(), (*systems)[i], i));
  }
  return model;
}

const SystemCost* cost_of(const CostModel& model, const std::string& text) {
  for (const SystemCost& cost : model.systems) {
    if (text.find(cost.match) != std::string::npos) return &cost;
  }
  return nullptr;
}

std::optional<double> images_per_currency(const CostModel& model, const SystemCost& cost,
                                          double speed) {
  constexpr double kHoursPerYear = 8760;
  constexpr double kSecondsPerHour = 3600;
  const double per_hour = speed * kSecondsPerHour;
  if (cost.hourly) return *cost.hourly > 0 ? std::optional(per_hour / *cost.hourly) : std::nullopt;
  if (!cost.watts && model.kwh_price > 0) return std::nullopt;
  const double hours = kHoursPerYear * model.years;
  const double energy = hours * model.pue * cost.watts.value_or(0) / 1000 * model.kwh_price;
  const double total = *cost.capex + energy;
  if (total <= 0) return std::nullopt;
  return per_hour * hours * model.utilization / total;
}

}  // namespace bench::results
