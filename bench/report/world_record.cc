#include "bench/report/world_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/base/errors.h"

namespace bench {
namespace {

using nlohmann::json;
using results::WorldRank;

/// Warns of a rank that is slower than the median by more than this factor.
constexpr double kSlower = 1.05;

template <class T>
json known_or_null(const Captured<T>& value) {
  return value.known() ? json(value.value()) : json(nullptr);
}

template <class T>
Captured<T> captured(const json& value) {
  return value.is_null() ? Captured<T>(Unknown{"unavailable on that rank"})
                         : Captured<T>(value.get<T>());
}

/// The variables of `env` that differ from rank 0's.
std::map<std::string, std::string> differing(const std::map<std::string, std::string>& env,
                                             const std::map<std::string, std::string>& first) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : env) {
    const auto found = first.find(name);
    if (found == first.end() || found->second != value) {
      out[name] = value;
    }
  }
  for (const auto& [name, value] : first) {
    if (!env.contains(name)) {
      out[name] = "";
    }
  }
  return out;
}

std::optional<results::Staleness> staleness_of(const json& list) {
  if (list.is_null()) {
    return std::nullopt;
  }
  auto values = list.get<std::vector<std::int64_t>>();
  if (values.empty()) {
    return results::Staleness();
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return results::Staleness{.median = at(0.5), .p95 = at(0.95), .max = values.back()};
}

using TextOf = const Captured<std::string>& (*)(const WorldRank& rank);

/// Warns if ranks have another value than rank 0.
void warn_of_difference(std::span<const WorldRank> ranks, const char* what, const TextOf& text_of,
                        const std::function<std::string(int rank)>& name_of,
                        std::vector<std::string>& warnings) {
  std::vector<int> differing_ranks;
  const Captured<std::string>& first = text_of(ranks.front());
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const Captured<std::string>& own = text_of(ranks[rank]);
    if (own.known() && first.known() && own.value() != first.value()) {
      differing_ranks.push_back(static_cast<int>(rank));
    }
  }
  if (differing_ranks.empty()) {
    return;
  }
  const int named = differing_ranks.front();
  warnings.push_back(
      fmt::format("{} of {} ranks have a different {} from rank 0: {} has {}, not {}",
                  differing_ranks.size(), ranks.size(), what, name_of(named),
                  text_of(ranks[static_cast<std::size_t>(named)]).value(), first.value()));
}

}  // namespace

std::string rank_text(const results::Record& record, const SessionResult& session) {
  json text{{"host", known_or_null(record.host.hostname)},
            {"cpu", known_or_null(record.cpu.model)},
            {"isa_used", known_or_null(record.cpu.isa_used)},
            {"governor", known_or_null(record.cpu.governor)},
            {"processors", record.cpu.processors_used.value_or({})},
            {"gpus", json::array()},
            {"computing", nullptr},
            {"exposed_communication", nullptr},
            {"steps", session.own_steps},
            {"staleness", session.staleness ? json(*session.staleness) : json(nullptr)},
            {"env", record.env}};
  for (const results::Gpu& gpu : record.gpus) {
    text["gpus"].push_back(gpu.pci_bus_id);
  }
  const auto slowest = std::max_element(
      session.shares.begin(), session.shares.end(),
      [](const StepTimes& a, const StepTimes& b) { return a.computing < b.computing; });
  if (slowest != session.shares.end() && session.own_steps > 0) {
    const auto steps = static_cast<double>(session.own_steps);
    const auto mean = [&](std::chrono::nanoseconds time) {
      return std::chrono::duration<double>(time).count() / steps;
    };
    text["computing"] = mean(slowest->computing);
    text["exposed_communication"] = mean(slowest->exposed_communication);
  }
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<WorldRank> read_ranks(std::span<const std::string> texts) {
  std::vector<WorldRank> ranks;
  std::map<std::string, std::string> first;
  for (const std::string& text : texts) {
    const json rank = json::parse(text);
    const auto env = rank.at("env").get<std::map<std::string, std::string>>();
    if (ranks.empty()) {
      first = env;
    }
    ranks.push_back({.host = rank.at("host").is_string() ? rank.at("host").get<std::string>() : "",
                     .cpu = captured<std::string>(rank.at("cpu")),
                     .isa_used = captured<std::string>(rank.at("isa_used")),
                     .governor = captured<std::string>(rank.at("governor")),
                     .processors = rank.at("processors").get<std::vector<int>>(),
                     .gpus = rank.at("gpus").get<std::vector<std::string>>(),
                     .computing = captured<double>(rank.at("computing")),
                     .exposed_communication = captured<double>(rank.at("exposed_communication")),
                     .steps = rank.at("steps").get<std::int64_t>(),
                     .staleness = staleness_of(rank.at("staleness")),
                     .env = differing(env, first)});
  }
  return ranks;
}

std::vector<std::string> rank_warnings(std::span<const WorldRank> ranks,
                                       const std::function<std::string(int rank)>& name_of) {
  std::vector<std::string> warnings;
  warn_of_difference(
      ranks, "processor", [](const WorldRank& rank) -> auto& { return rank.cpu; }, name_of,
      warnings);
  warn_of_difference(
      ranks, "instruction set", [](const WorldRank& rank) -> auto& { return rank.isa_used; },
      name_of, warnings);
  warn_of_difference(
      ranks, "governor", [](const WorldRank& rank) -> auto& { return rank.governor; }, name_of,
      warnings);
  std::vector<double> computing;
  for (const WorldRank& rank : ranks) {
    if (rank.computing.known()) {
      computing.push_back(rank.computing.value());
    }
  }
  if (computing.size() != ranks.size() || ranks.front().staleness) {
    return warnings;  // Asynchronous workers do not wait for the slowest.
  }
  const auto slowest = std::max_element(computing.begin(), computing.end());
  const int number = static_cast<int>(slowest - computing.begin());
  const double longest = *slowest;
  // The lower one of two: otherwise the slower of two ranks would be the median.
  const auto median = computing.begin() + static_cast<std::ptrdiff_t>((computing.size() - 1) / 2);
  std::nth_element(computing.begin(), median, computing.end());
  if (longest > kSlower * *median) {
    constexpr double kMilli = 1e3;
    warnings.push_back(
        fmt::format("{} is the slowest: it computes {:.1f} ms per step, the median rank {:.1f} ms; "
                    "the others wait for it",
                    name_of(number), kMilli * longest, kMilli * *median));
  }
  return warnings;
}

}  // namespace bench
