#include "results/compare/differences.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "models/base/errors.h"
#include "results/store/disturbance.h"
#include "results/store/members.h"
#include "results/store/record_fields.h"

namespace bench::results {
namespace {

using Values = std::map<std::string, std::set<std::string>>;

Values values_of(std::span<const StoredRun* const> runs) {
  Values values;
  for (const StoredRun* run : runs) {
    for (const auto& [path, value] : environment_fields(run->record)) {
      values[path].insert(plain_text(value));
    }
  }
  return values;
}

std::vector<std::string> listed(const Values& values, const std::string& path) {
  const auto found = values.find(path);
  if (found == values.end()) return {"absent"};
  return {found->second.begin(), found->second.end()};
}

std::string cut(const std::string& text) {
  constexpr std::size_t kLongest = 48;
  constexpr std::size_t kKept = 22;
  if (text.size() <= kLongest) return text;
  return fmt::format("{}...{}", text.substr(0, kKept), text.substr(text.size() - kKept));
}

std::string joined(const std::vector<std::string>& values) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, values.size()); ++i) {
    if (i > 0) text += " or ";
    text += cut(values[i]);
  }
  if (values.size() <= kShown) return text;
  return fmt::format("{} or {} more", text, values.size() - kShown);
}

/// A warning in parts, alternately a text and a number. Equal texts make one note.
struct Warning {
  std::vector<std::string> texts{""};
  std::vector<std::string> numbers{};
};

Warning warning_of(const std::string& sentence) {
  Warning warning;
  const auto digit = [&](std::size_t at) {
    return at < sentence.size() && sentence[at] >= '0' && sentence[at] <= '9';
  };
  for (std::size_t at = 0; at < sentence.size();) {
    if (!digit(at)) {
      warning.texts.back() += sentence[at++];
      continue;
    }
    const std::size_t begin = at;
    while (digit(at) || (sentence[at] == '.' && digit(at + 1))) ++at;
    warning.numbers.push_back(sentence.substr(begin, at - begin));
    warning.texts.emplace_back();
  }
  return warning;
}

/// The warnings with these texts as one sentence: of numbers that differ, the least and greatest.
std::string one_sentence(const std::vector<std::string>& texts,
                         const std::vector<std::vector<std::string>>& numbers) {
  std::string sentence = texts.front();
  for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
    const auto [least, most] =
        std::minmax_element(numbers.begin(), numbers.end(), [&](const auto& a, const auto& b) {
          return std::strtod(a[i].c_str(), nullptr) < std::strtod(b[i].c_str(), nullptr);
        });
    sentence += (*least)[i];
    if ((*least)[i] != (*most)[i]) sentence += " to " + (*most)[i];
    sentence += texts[i + 1];
  }
  return sentence;
}

struct SameCause {
  std::string_view disturbance;  ///< A text from disturbances_of().
  std::string_view warning;      ///< A part of the warning, which also has numbers.
};
constexpr std::array kSameCauses = {
    SameCause{"other programs used the processors", "other work keeps about "},
    SameCause{"the hypervisor took processor time (steal)", "to other machines (steal)"},
    SameCause{"one step took many times the median",
              " times the median; was the process suspended?"},
};

/// True if one of the warnings reports this disturbance, with numbers.
bool is_a_warning_too(const std::string& disturbance, const std::vector<std::string>& warnings) {
  return std::any_of(kSameCauses.begin(), kSameCauses.end(), [&](const SameCause& same) {
    return disturbance == same.disturbance &&
           std::any_of(warnings.begin(), warnings.end(), [&](const std::string& warning) {
             return warning.find(same.warning) != std::string::npos;
           });
  });
}

/// The warnings of a run, and the disturbances that no warning reports.
std::vector<std::string> quality_of(const StoredRun& run) {
  std::vector<std::string> sentences;
  const nlohmann::json* warnings = member_at(run.record, "quality.warnings");
  if (warnings != nullptr && warnings->is_array()) {
    for (const auto& warning : *warnings) {
      if (warning.is_string()) sentences.push_back(warning.get<std::string>());
    }
  }
  std::vector<std::string> disturbances = disturbances_of(run.record);
  std::erase_if(disturbances, [&](const std::string& disturbance) {
    return is_a_warning_too(disturbance, sentences);
  });
  sentences.insert(sentences.end(), disturbances.begin(), disturbances.end());
  return sentences;
}

}  // namespace

std::vector<EnvironmentDifference> environment_differences(
    std::span<const StoredRun* const> base, std::span<const StoredRun* const> other) {
  const Values ours = values_of(base);
  const Values theirs = values_of(other);
  std::set<std::string> paths;
  for (const auto& [path, values] : ours) paths.insert(path);
  for (const auto& [path, values] : theirs) paths.insert(path);
  std::vector<EnvironmentDifference> differences;
  for (const std::string& path : paths) {
    EnvironmentDifference one{
        .field = path, .base = listed(ours, path), .other = listed(theirs, path)};
    if (one.base != one.other) differences.push_back(std::move(one));
  }
  return differences;
}

std::string text_of(const EnvironmentDifference& difference) {
  return fmt::format("{} {} -> {}", difference.field, joined(difference.base),
                     joined(difference.other));
}

std::vector<std::string> quality_notes(std::span<const StoredRun* const> runs) {
  std::map<std::vector<std::string>, std::vector<std::vector<std::string>>> numbers;
  std::map<std::vector<std::string>, std::set<const StoredRun*>> warned;
  for (const StoredRun* run : runs) {
    for (const std::string& sentence : quality_of(*run)) {
      Warning warning = warning_of(sentence);
      // A disturbance may also be a warning with the same words.
      if (!warned[warning.texts].insert(run).second) continue;
      numbers[warning.texts].push_back(std::move(warning.numbers));
    }
  }
  std::vector<std::string> notes;
  for (const auto& [texts, all] : numbers) {
    std::string note = one_sentence(texts, all);
    const std::size_t count = warned[texts].size();
    if (count < runs.size()) note += fmt::format(" ({} of {} runs)", count, runs.size());
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace bench::results
