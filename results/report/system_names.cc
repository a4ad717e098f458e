#include "results/report/system_names.h"

#include <algorithm>
#include <set>
#include <string>

#include "models/base/errors.h"
#include "results/formats/record_view.h"

namespace bench::results {
namespace {

/// The parts of a machine's text, separated by commas.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t comma = std::min(text.find(", ", from), text.size());
    parts.push_back(text.substr(from, comma - from));
    from = comma + 2;
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += ", ";
    text += part;
  }
  return text;
}

std::string about_text(const ReportSystem& system, bool anonymize) {
  const StoredRun& run = *system.runs.front();
  std::vector<std::string> parts = parts_of(run.machine);
  const std::string host = text_field(run.record, "host.hostname");
  if (anonymize && !host.empty()) std::erase(parts, host);
  const std::string text = join(parts);
  return text.empty() ? "unknown machine" : text;
}

/// The name that all runs of the system give it; empty if they do not agree.
std::string tagged_name(const ReportSystem& system) {
  std::set<std::string> names;
  for (const StoredRun* run : system.runs) {
    const auto found = run->tags.find("system");
    names.insert(found == run->tags.end() ? "" : found->second);
  }
  return names.size() == 1 ? *names.begin() : "";
}

/// `about` without the parts that all systems share.
std::string distinct_part(const ReportSystem& system, const std::vector<ReportSystem>& all) {
  std::vector<std::string> parts = parts_of(system.about);
  if (all.size() > 1) {
    std::erase_if(parts, [&](const std::string& part) {
      return std::all_of(all.begin(), all.end(), [&](const ReportSystem& other) {
        const std::vector<std::string> theirs = parts_of(other.about);
        return std::find(theirs.begin(), theirs.end(), part) != theirs.end();
      });
    });
  }
  return parts.empty() ? system.about : join(parts);
}

}  // namespace

void name_systems(std::vector<ReportSystem>& systems, bool anonymize) {
  for (ReportSystem& system : systems) system.about = about_text(system, anonymize);
  std::sort(systems.begin(), systems.end(), [](const ReportSystem& a, const ReportSystem& b) {
    return a.about < b.about || (a.about == b.about && a.key < b.key);
  });
  std::set<std::string> used;
  char letter = 'A';
  for (ReportSystem& system : systems) {
    const std::string tagged = anonymize ? "" : tagged_name(system);
    system.name = tagged.empty() ? distinct_part(system, systems) : tagged;
    if (anonymize) {
      system.name = systems.size() > 26
                        ? fmt::format("System {}: {}", &system - systems.data() + 1, system.name)
                        : fmt::format("System {}: {}", letter++, system.name);
    }
    if (!used.insert(system.name).second) {
      system.name += fmt::format(" ({})", system.key.substr(0, 4));
      used.insert(system.name);
    }
  }
}

}  // namespace bench::results
