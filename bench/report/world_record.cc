#include "bench/report/world_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/base/errors.h"

namespace bench {
namespace {

using nlohmann::json;
using results::WorldRank;

/// A slower rank is named from this ratio to the median on.
constexpr double kSlower = 1.05;

template <class T>
json known_or_null(const Captured<T>& value) {
  return value.known() ? json(value.value()) : json(nullptr);
}

template <class T>
Captured<T> captured(const json& value) {
  return value.is_null() ? Captured<T>(Unknown{"that rank does not know it"})
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

void warn_of_difference(const WorldRank& rank, const WorldRank& first, const std::string& name,
                        std::vector<std::string>& warnings) {
  const auto compare = [&](const char* what, const Captured<std::string>& own,
                           const Captured<std::string>& other) {
    if (own.known() && other.known() && own.value() != other.value()) {
      warnings.push_back(
          fmt::format("{} has {} {}, but rank 0 has {}", name, what, own.value(), other.value()));
    }
  };
  compare("the processor", rank.cpu, first.cpu);
  compare("the instruction set", rank.isa_used, first.isa_used);
  compare("the governor", rank.governor, first.governor);
}

}  // namespace

std::string rank_text(const results::Record& record, const SessionResult& session) {
  json text{{"host", known_or_null(record.host.hostname)},
            {"cpu", known_or_null(record.cpu.model)},
            {"isa_used", known_or_null(record.cpu.isa_used)},
            {"governor", known_or_null(record.cpu.governor)},
            {"processors", record.cpu.processors_used.value_or({})},
            {"computing", nullptr},
            {"exposed_communication", nullptr},
            {"env", record.env}};
  const auto slowest = std::max_element(
      session.shares.begin(), session.shares.end(),
      [](const StepTimes& a, const StepTimes& b) { return a.computing < b.computing; });
  if (slowest != session.shares.end() && !session.steps.empty()) {
    const auto steps = static_cast<double>(session.steps.size());
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
                     .computing = captured<double>(rank.at("computing")),
                     .exposed_communication = captured<double>(rank.at("exposed_communication")),
                     .env = differing(env, first)});
  }
  return ranks;
}

std::vector<std::string> rank_warnings(std::span<const WorldRank> ranks,
                                       const std::function<std::string(int rank)>& name_of) {
  std::vector<std::string> warnings;
  std::vector<double> computing;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    warn_of_difference(ranks[rank], ranks.front(), name_of(static_cast<int>(rank)), warnings);
    if (ranks[rank].computing.known()) {
      computing.push_back(ranks[rank].computing.value());
    }
  }
  if (computing.size() != ranks.size()) {
    return warnings;
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
