#include "models/base/near_names.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

// Shorter texts occur in too many names, or at their beginning, by chance.
constexpr std::size_t kShortestPart = 4;
constexpr std::size_t kShortestBeginning = 3;
constexpr std::size_t kMostNearNames = 3;

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& letter : lowered) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return lowered;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::string from = lower(a);
  const std::string to = lower(b);
  // distance[i][j] is the distance between the first i letters of `from` and the first j of `to`.
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
  // Two changes of four letters make another word.
  const std::size_t tolerated = given.size() <= 4 ? 1 : 1 + given.size() / 4;
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
  // If one name is very near, the less similar ones are noise.
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

std::string did_you_mean(std::span<const std::string_view> near, std::string_view dashes) {
  if (near.empty()) {
    return "";
  }
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) {
      text += " or ";
    }
    text += fmt::format("{}{}", dashes, near[i]);
  }
  return text + "?";
}

}  // namespace bench
