#include "results/compare/differences.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

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
  std::map<std::string, std::size_t> counts;
  for (const StoredRun* run : runs) {
    const std::vector<std::string> causes = disturbances_of(run->record);
    std::set<std::string> own(causes.begin(), causes.end());
    const nlohmann::json* warnings = member_at(run->record, "quality.warnings");
    if (warnings != nullptr && warnings->is_array()) {
      for (const auto& warning : *warnings) {
        if (warning.is_string()) own.insert(warning.get<std::string>());
      }
    }
    for (const std::string& warning : own) ++counts[warning];
  }
  std::vector<std::string> notes;
  for (const auto& [warning, count] : counts) {
    notes.push_back(count == runs.size()
                        ? warning
                        : fmt::format("{} ({} of {} runs)", warning, count, runs.size()));
  }
  return notes;
}

}  // namespace bench::results
