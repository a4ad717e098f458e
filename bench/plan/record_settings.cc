#include "bench/plan/record_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/flags/table.h"
#include "models/base/errors.h"
#include "results/environment/machine.h"
#include "results/report/cost.h"
#include "results/store/store.h"

namespace bench {
namespace {

using nlohmann::json;

/// The last look at the interval, if --until_ci is given without --repeats.
constexpr std::int64_t kMostRuns = 24;

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

std::optional<int> index_of(const std::string& text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

RepeatSettings repeats_of(const Flags& flags) {
  RepeatSettings repeats{.cooldown_seconds = flags.cooldown};
  if (flags.until_ci) {
    repeats.until_ci = parse_share(*flags.until_ci, "until_ci");
  }
  repeats.runs = flags.repeats.value_or(repeats.until_ci ? kMostRuns : 1);
  return repeats;
}

void take_place(RecordSettings& settings) {
  const char* text = variable(kGroupVariable);
  if (text == nullptr) {
    return;
  }
  const GroupPlace place = parse_group_place(text);
  if (settings.repeats.asked()) {
    if (variable(kRepeatsVariable) == nullptr) {
      throw UsageError(
          fmt::format("--repeats and --until_ci: this run is already part of a group ({}={}); give "
                      "these flags to the program that starts the group",
                      kGroupVariable, text));
    }
    settings.own_repeat = place.repeat;
  }
  settings.labels.group_id = place.group;
  settings.labels.repeat_index = place.repeat;
  settings.labels.order_index = place.order;
}

std::vector<int> increasing_counts(std::string_view flag, const std::string& text, int most,
                                   std::string_view example) {
  std::vector<int> counts;
  for (const std::string& word : split_text(text, ',')) {
    const std::optional<int> count = index_of(word);
    if (!count || *count < 1 || *count > most || (!counts.empty() && *count <= counts.back())) {
      throw UsageError(
          fmt::format("--{}={}: '{}' is not a number from 1 to {} that is greater than the one "
                      "before it; write {}",
                      flag, text, word, most, example));
    }
    counts.push_back(*count);
  }
  return counts;
}

void take_scaling(const Flags& flags, RecordSettings& settings) {
  if (!flags.scaling_sweep) {
    return;
  }
  const char* text = variable(kScalingVariable);
  if (text == nullptr) {
    settings.device_counts = parse_device_counts(*flags.scaling_sweep);
    return;
  }
  settings.scaling.emplace();
  if (text != std::string_view(kScalingFirst)) {
    settings.scaling->reference = parse_scaling_reference(text);
  }
}

Captured<double> given_number(const std::optional<double>& value) {
  if (!value) {
    return Unknown{"the file of --cost does not contain it"};
  }
  return *value;
}

/// Host and processor, as in the report's text of a machine.
std::string machine_of(const SystemFiles& files) {
  const std::string host = capture_host(files).hostname.value_or("");
  const std::string processor = capture_cpu(files).model.value_or("");
  return host.empty() ? processor : fmt::format("{}, {}", host, processor);
}

}  // namespace

GroupPlace parse_group_place(const std::string& text) {
  const std::vector<std::string> parts = split_text(text, '/');
  if (parts.size() == 3 && !parts[0].empty()) {
    const std::optional<int> repeat = index_of(parts[1]);
    const std::optional<int> order = index_of(parts[2]);
    if (repeat && order) {
      return {.group = parts[0], .repeat = *repeat, .order = *order};
    }
  }
  throw UsageError(
      fmt::format("{}={}: expected group/repeat/order, such as ab12/0/3", kGroupVariable, text));
}

std::string to_text(const GroupPlace& place) {
  return fmt::format("{}/{}/{}", place.group, place.repeat, place.order);
}

std::string to_text(const ScalingReference& reference) {
  json text = {{"devices", reference.devices}, {"units_per_second", reference.units_per_second}};
  if (const auto& parts = reference.parts) {
    text["parts"] = {parts->input, parts->computing, parts->exposed_communication, parts->updating,
                     parts->waiting};
  }
  return text.dump();
}

ScalingReference parse_scaling_reference(const std::string& text) {
  try {
    const json parsed = json::parse(text);
    ScalingReference reference{.devices = parsed.at("devices").get<int>(),
                               .units_per_second = parsed.at("units_per_second").get<double>()};
    if (parsed.contains("parts")) {
      const auto parts = parsed.at("parts").get<std::array<double, 5>>();
      reference.parts = {.input = parts[0],
                         .computing = parts[1],
                         .exposed_communication = parts[2],
                         .updating = parts[3],
                         .waiting = parts[4]};
    }
    return reference;
  } catch (const json::exception&) {
    throw UsageError(fmt::format("{}={}: expected a reference that --scaling_sweep wrote",
                                 kScalingVariable, text));
  }
}

std::vector<int> parse_device_counts(const std::string& text) {
  constexpr int kMost = 64;  // The limit of --num_gpus.
  std::vector<int> counts = increasing_counts("scaling_sweep", text, kMost, "1,2,4");
  if (counts.size() < 2) {
    throw UsageError(fmt::format(
        "--scaling_sweep={}: a sweep compares at least two numbers of devices; write 1,2,4", text));
  }
  return counts;
}

std::vector<int> parse_predicted_ranks(const std::string& text) {
  constexpr int kMost = 1 << 20;
  return increasing_counts("predict_ranks", text, kMost, "8,64,512");
}

std::map<std::string, std::string> parse_tags(const std::string& text) {
  std::map<std::string, std::string> tags;
  for (const std::string& pair : split_text(text, ',')) {
    const std::size_t equals = pair.find('=');
    const std::string name = pair.substr(0, equals);
    if (equals == std::string::npos || name.empty() ||
        name.find_first_of(" :\"'") != std::string::npos) {
      throw UsageError(fmt::format(
          "--tags={}: '{}' is not of the form name=value; write site=ams,rack=7", text, pair));
    }
    if (!tags.emplace(name, pair.substr(equals + 1)).second) {
      throw UsageError(fmt::format("--tags={}: '{}' has two values", text, name));
    }
  }
  return tags;
}

results::Cost read_cost(const std::string& path, const std::string& system,
                        const std::string& machine) {
  const std::vector<results::SystemPrice> prices = results::read_cost_file(path);
  const results::SystemPrice* price = results::price_of(prices, system, machine);
  if (price == nullptr) {
    throw UsageError(fmt::format(
        "--cost={}: no entry matches this machine; make a 'match' part of '{}', or name the "
        "machine with --tags=system=NAME",
        path, system.empty() ? machine : fmt::format("{}, {}", system, machine)));
  }
  return {.currency = price->currency,
          .capex = given_number(price->capex),
          .hourly = given_number(price->hourly),
          .watts = given_number(price->watts),
          .years = given_number(price->years),
          .utilization = given_number(price->utilization),
          .kwh_price = given_number(price->kwh_price),
          .pue = given_number(price->pue)};
}

double parse_share(const std::string& text, std::string_view flag) {
  constexpr double kPerCent = 100;
  const bool per_cent = text.ends_with('%');
  const char* end = text.data() + text.size() - (per_cent ? 1 : 0);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value > 0) || value >= (per_cent ? kPerCent : 1)) {
    throw UsageError(fmt::format("--{}={}: expected a fraction such as 1% or 0.01", flag, text));
  }
  return per_cent ? value / kPerCent : value;
}

RecordSettings record_settings_of(const Flags& flags) {
  RecordSettings settings{.repeats = repeats_of(flags), .reportable = flags.reportable};
  results::Labels& labels = settings.labels;
  if (flags.label) {
    labels.label = *flags.label;
  }
  labels.tags = parse_tags(flags.tags.value_or(""));
  labels.reason = flags.reason;
  if (flags.store) {
    settings.store = *flags.store == "default" ? results::default_store_path()
                                               : std::filesystem::path(*flags.store);
  }
  if (flags.cost) {
    const auto system = labels.tags.find("system");
    settings.cost = read_cost(*flags.cost, system == labels.tags.end() ? "" : system->second,
                              machine_of(SystemFiles()));
  }
  take_place(settings);
  take_scaling(flags, settings);
  if (flags.predict_ranks) {
    settings.predicted_ranks = parse_predicted_ranks(*flags.predict_ranks);
  }
  if (const char* path = variable(kRecordVariable)) {
    settings.report_to = path;
  }
  return settings;
}

}  // namespace bench
