#include "bench/flags/near.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "bench/flags/file.h"
#include "bench/flags/hints.h"
#include "models/base/text.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

// Shorter texts occur in too many names, and begin too many, by chance.
constexpr std::size_t kShortestPart = 4;
constexpr std::size_t kShortestBeginning = 3;
constexpr std::size_t kMostNearNames = 3;

/// What tf_cnn_benchmarks has and this program does not: it tells images apart.
struct OtherModel {
  std::string_view name;
  std::string_view kind;
};
constexpr std::array kOtherModels = {
    OtherModel{.name = "ssd300", .kind = "finds objects"},
    OtherModel{.name = "deepspeech2", .kind = "recognises speech"},
    OtherModel{.name = "ncf", .kind = "recommends items"},
};

const OtherModel* find_other_model(std::string_view name) {
  const auto* found =
      std::find_if(kOtherModels.begin(), kOtherModels.end(),
                   [&](const OtherModel& other) { return equal_in_any_case(other.name, name); });
  return found == kOtherModels.end() ? nullptr : found;
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& letter : lowered) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return lowered;
}

std::string without_separators(std::string_view name) {
  std::string letters = lower(name);
  std::erase_if(letters, [](char letter) { return letter == '_' || letter == '-'; });
  return letters;
}

// "; did you mean a or b?", or nothing.
std::string question(std::span<const std::string_view> near, std::string_view dashes) {
  if (near.empty()) {
    return "";
  }
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    text += cat(i == 0 ? "" : " or ", dashes, near[i]);
  }
  return text + "?";
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::string from = lower(a);
  const std::string to = lower(b);
  // distance[i][j]: between the first i letters of `from` and the first j of `to`.
  std::vector<std::vector<std::size_t>> distance(from.size() + 1,
                                                 std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const std::size_t change = from[i - 1] == to[j - 1] ? 0 : 1;
      distance[i][j] = std::min(
          {distance[i - 1][j] + 1, distance[i][j - 1] + 1, distance[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[from.size()][to.size()];
}

std::vector<std::string_view> near_names(std::string_view given,
                                         std::span<const std::string_view> candidates) {
  struct Near {
    std::size_t distance;
    bool contains;
    std::string_view name;
  };
  std::vector<Near> near;
  const std::size_t tolerated = 1 + given.size() / 4;
  std::size_t least = tolerated;
  const std::string part = lower(given);
  for (const std::string_view name : candidates) {
    const std::size_t distance = edit_distance(given, name);
    const std::size_t place = lower(name).find(part);
    const bool contains = place != std::string::npos &&
                          part.size() >= (place == 0 ? kShortestBeginning : kShortestPart);
    if (contains || (distance <= tolerated && distance < std::max(given.size(), name.size()))) {
      near.push_back({distance, contains, name});
      least = std::min(least, distance);
    }
  }
  // Beside a very near name the others are noise.
  std::erase_if(near, [&](const Near& one) { return !one.contains && one.distance > 2 * least; });
  std::stable_sort(near.begin(), near.end(), [](const Near& a, const Near& b) {
    return std::pair(!a.contains, a.distance) < std::pair(!b.contains, b.distance);
  });
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < std::min(near.size(), kMostNearNames); ++i) {
    names.push_back(near[i].name);
  }
  return names;
}

UsageError unknown_value(const FlagRow& row, std::string_view given) {
  std::vector<std::string_view> near{value_meant_by(row.name, given)};
  if (near.front().empty()) {
    near = near_names(given, split_words(row.accepted.values));
  }
  std::erase_if(near, [&](std::string_view value) { return !is_taken(row, value); });
  std::string other_way;
  if (const std::string_view model = model_meant_by(given);
      !model.empty() && !row.accepted.bare.empty()) {
    other_way = cat("--model=", model, " --", row.name);
    near.assign(1, other_way);
  }
  return UsageError(cat("--", row.name, "=", given,
                        ": unknown value; accepted: ", describe_values(row), question(near, "")));
}

UsageError unknown_value(std::string_view flag, std::string_view given,
                         std::span<const std::string_view> accepted, std::string_view listed_by) {
  const std::string asked = question(near_names(given, accepted), "");
  return UsageError(cat("--", flag, "=", given, ": unknown value", asked.empty() ? ";" : asked,
                        " --", listed_by, " lists all"));
}

UsageError unknown_model(std::string_view given) {
  if (const OtherModel* other = find_other_model(given)) {
    return UsageError(cat("--model=", given, ": not built: it ", other->kind,
                          ", and the networks here classify images; --list_models shows them"));
  }
  std::vector<std::string_view> names;
  for (const Model& model : all_models()) {
    // One name may stand for a network of each dataset.
    if (std::find(names.begin(), names.end(), model.name) == names.end()) {
      names.push_back(model.name);
    }
  }
  return unknown_value("model", given, names, "list_models");
}

std::string_view model_meant_by(std::string_view word) {
  for (const Model& model : all_models()) {
    if (without_separators(model.name) == without_separators(word)) {
      return model.name;
    }
  }
  return "";
}

bool names_a_model(std::string_view name) {
  return !listed_model_name(name).empty() || find_other_model(name) != nullptr;
}

UsageError unknown_flag(std::string_view given) {
  std::string name(without_dashes(given));
  std::replace(name.begin(), name.end(), '-', '_');
  const std::string start = cat(given, ": unknown flag");
  if (const auto meant = flags_meant_by(name); !meant.empty()) {
    return UsageError(cat(start, question(meant, "")));
  }
  if (const std::string_view why = why_no_flag(name); !why.empty()) {
    return UsageError(cat(start, "; ", why));
  }
  if (const std::string_view model = model_meant_by(name); !model.empty()) {
    return UsageError(cat(start, "; did you mean --model=", model, "?"));
  }
  std::vector<std::string> negated;
  for (const FlagRow& row : flag_table()) {
    if (row.type == FlagType::kBool) {
      negated.push_back(cat("no", row.name));
    }
  }
  std::vector<std::string_view> names;
  for (const FlagRow& row : flag_table()) {
    names.push_back(row.name);
  }
  if (name.starts_with("no")) {
    names.insert(names.end(), negated.begin(), negated.end());
  }
  const std::string asked = question(near_names(name, names), "--");
  return UsageError(cat(start, asked.empty() ? "; --help=all lists all flags" : asked));
}

}  // namespace bench
