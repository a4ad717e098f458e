#include "results/compare/matching.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "models/base/errors.h"
#include "results/store/record_fields.h"
#include "results/store/workload_names.h"

namespace bench::results {
namespace {

bool names_field(const std::string& name, const std::string& path) {
  return path == name || (path.size() > name.size() && path.ends_with("." + name));
}

bool is_ignored(const std::string& path, const IgnoredFields& ignored) {
  return std::any_of(ignored.begin(), ignored.end(),
                     [&](const std::string& name) { return names_field(name, path); });
}

Fields fields_without(const StoredRun& run, const IgnoredFields& ignored) {
  Fields fields = workload_fields(run.record);
  std::erase_if(fields, [&](const auto& field) { return is_ignored(field.first, ignored); });
  return fields;
}

using Workloads = std::map<std::string, std::vector<const StoredRun*>>;

Workloads workloads_of(std::span<const StoredRun> runs, const IgnoredFields& ignored) {
  Workloads workloads;
  for (const StoredRun& run : runs) workloads[workload_key_without(run, ignored)].push_back(&run);
  return workloads;
}

using Difference = std::map<std::string, std::pair<std::string, std::string>>;

Difference difference_of(const StoredRun& a, const StoredRun& b, const IgnoredFields& ignored) {
  return differing_fields(fields_without(a, ignored), fields_without(b, ignored));
}

/// The workload of `others` that differs from that of `run` in the fewest fields.
std::optional<Difference> nearest_difference(const StoredRun& run, const Workloads& others,
                                             const IgnoredFields& ignored) {
  std::optional<Difference> nearest;
  for (const auto& [key, runs] : others) {
    Difference difference = difference_of(run, *runs.front(), ignored);
    if (!nearest || difference.size() < nearest->size()) nearest = std::move(difference);
  }
  return nearest;
}

std::string text_of(const Difference& difference) {
  constexpr std::size_t kShown = 6;
  std::string text;
  std::size_t count = 0;
  for (const auto& [path, values] : difference) {
    if (count++ == kShown) {
      text += fmt::format(", and {} more", difference.size() - kShown);
      break;
    }
    if (!text.empty()) text += ", ";
    text += fmt::format("{} ({} vs. {})", path, values.first, values.second);
  }
  return text;
}

/// Gives the workloads distinct names.
void name_workloads(std::vector<MatchedWorkload>& workloads, const IgnoredFields& ignored) {
  std::vector<NamedWorkload> named;
  for (const MatchedWorkload& work : workloads) {
    named.push_back({.text = work.workload, .fields = fields_without(*work.base.front(), ignored)});
  }
  const std::vector<std::string> names = distinct_names(named);
  for (std::size_t i = 0; i < workloads.size(); ++i) workloads[i].workload = names[i];
}

std::string lacking(const char* side, const StoredRun& run, const Workloads& others,
                    const IgnoredFields& ignored) {
  const auto nearest = nearest_difference(run, others, ignored);
  if (!nearest) return fmt::format("{} is only in {}", run.workload, side);
  return fmt::format("{} is only in {}. The most similar workload of the other side differs in {}.",
                     run.workload, side, text_of(*nearest));
}

}  // namespace

std::string workload_key_without(const StoredRun& run, const IgnoredFields& ignored) {
  return ignored.empty() ? run.workload_key : key_of(fields_without(run, ignored));
}

void check_fields(std::span<const StoredRun> runs, const std::vector<std::string>& names,
                  const char* option) {
  for (const std::string& name : names) {
    const bool known = std::any_of(runs.begin(), runs.end(), [&](const StoredRun& run) {
      const Fields fields = workload_fields(run.record);
      return std::any_of(fields.begin(), fields.end(),
                         [&](const auto& field) { return names_field(name, field.first); });
    });
    if (!known) {
      throw UsageError(
          fmt::format("--{}={}: no run has a workload field of this name; type a name such as "
                      "workload.layout or layout",
                      option, name));
    }
  }
}

std::string fields_text(const StoredRun& run, const std::vector<std::string>& names) {
  const Fields fields = workload_fields(run.record);
  std::string text;
  for (const std::string& name : names) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) {
      return names_field(name, field.first);
    });
    if (!text.empty()) text += ", ";
    text +=
        fmt::format("{} {}", name, found == fields.end() ? "absent" : plain_text(found->second));
  }
  return text;
}

Matching match_workloads(std::span<const StoredRun> base, std::span<const StoredRun> other,
                         const IgnoredFields& ignored) {
  const Workloads ours = workloads_of(base, ignored);
  const Workloads theirs = workloads_of(other, ignored);
  Matching matching;
  for (const auto& [key, runs] : ours) {
    const auto found = theirs.find(key);
    if (found != theirs.end()) {
      matching.workloads.push_back(
          {.workload = runs.front()->workload, .base = runs, .other = found->second});
    } else {
      matching.only_base.push_back(runs.front()->workload);
      matching.unmatched.push_back(lacking("base", *runs.front(), theirs, ignored));
    }
  }
  for (const auto& [key, runs] : theirs) {
    if (ours.find(key) == ours.end()) {
      matching.unmatched.push_back(lacking("new", *runs.front(), ours, ignored));
    }
  }
  if (matching.workloads.empty()) {
    std::optional<Difference> nearest;
    for (const auto& [key, runs] : ours) {
      auto difference = nearest_difference(*runs.front(), theirs, ignored);
      if (difference && (!nearest || difference->size() < nearest->size())) nearest = difference;
    }
    if (!nearest) throw DataError("one side has no runs to compare");
    throw DataError(
        fmt::format("the two sides ran different workloads, which differ in {}; add "
                    "--ignore=FIELD to compare them anyway",
                    text_of(*nearest)));
  }
  name_workloads(matching.workloads, ignored);
  std::stable_sort(
      matching.workloads.begin(), matching.workloads.end(),
      [](const MatchedWorkload& a, const MatchedWorkload& b) { return a.workload < b.workload; });
  return matching;
}

MatchedWorkload whole_pairs(const MatchedWorkload& work, const std::string& metric,
                            const std::vector<StoredRun>& base,
                            const std::vector<StoredRun>& other) {
  MatchedWorkload pairs{.workload = work.workload};
  for (const StoredRun* run : work.base) {
    const StoredRun* const partner = &other[static_cast<std::size_t>(run - base.data())];
    const bool same_work =
        std::find(work.other.begin(), work.other.end(), partner) != work.other.end();
    if (same_work && run->metrics.contains(metric) && partner->metrics.contains(metric)) {
      pairs.base.push_back(run);
      pairs.other.push_back(partner);
    }
  }
  return pairs;
}

}  // namespace bench::results
