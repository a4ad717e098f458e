#include "results/store/workload_names.h"

#include <charconv>
#include <map>
#include <set>

#include "models/base/errors.h"

namespace bench::results {
namespace {

constexpr std::string_view kMember = "workload.";
constexpr std::string_view kFlag = "flags.workload.";

std::size_t count_different(const std::vector<std::string>& texts) {
  return std::set(texts.begin(), texts.end()).size();
}

std::string value_of_field(const Fields& fields, const std::string& path) {
  const auto found = fields.find(path);
  if (found == fields.end()) return "not recorded";
  if (found->second != "null") return plain_text(found->second);
  return path.starts_with(kFlag) ? "unset" : "unknown";
}

/// A fraction in six digits; other values unchanged.
std::string shortened(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool is_fraction =
      error == std::errc() && stop == end && text.find_first_of(".eE") != std::string::npos;
  return is_fraction ? fmt::format("{:.6g}", number) : text;
}

/// The field's values of the workloads, in few digits if these are enough to distinguish them.
std::vector<std::string> values_of_field(const std::vector<const Fields*>& workloads,
                                         const std::string& path) {
  std::vector<std::string> values;
  std::vector<std::string> few_digits;
  for (const Fields* work : workloads) {
    values.push_back(value_of_field(*work, path));
    few_digits.push_back(shortened(values.back()));
  }
  return count_different(few_digits) == count_different(values) ? few_digits : values;
}

/// "init_learning_rate".
std::string field_name(const std::string& path) {
  const std::string_view prefix = path.starts_with(kFlag)     ? kFlag
                                  : path.starts_with(kMember) ? kMember
                                                              : std::string_view();
  return path.substr(prefix.size());
}

/// The paths of all fields: the members that describe the workload, then flags, then the others,
/// and last the members that follow from the others.
std::vector<std::string> ordered_paths(const std::vector<const Fields*>& workloads) {
  std::set<std::pair<int, std::string>> ordered;
  for (const Fields* work : workloads) {
    for (const auto& [path, value] : *work) {
      const int rank = is_derived(path)            ? 3
                       : path.starts_with(kMember) ? 0
                       : path.starts_with(kFlag)   ? 1
                                                   : 2;
      ordered.emplace(rank, path);
    }
  }
  std::vector<std::string> paths;
  for (const auto& [rank, path] : ordered) paths.push_back(path);
  return paths;
}

/// For each workload of one text, the fields that distinguish it; empty for a single workload.
std::vector<std::string> tell_apart(const std::vector<const Fields*>& workloads) {
  std::vector<std::string> told(workloads.size());
  for (const std::string& path : ordered_paths(workloads)) {
    const std::size_t before = count_different(told);
    if (before == workloads.size()) break;
    const std::vector<std::string> values = values_of_field(workloads, path);
    std::vector<std::string> more = told;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      if (!more[i].empty()) more[i] += ", ";
      more[i] += fmt::format("{} {}", field_name(path), values[i]);
    }
    if (count_different(more) > before) told = std::move(more);
  }
  return told;
}

}  // namespace

std::vector<std::string> distinct_names(std::span<const NamedWorkload> workloads) {
  std::map<std::string_view, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < workloads.size(); ++i) alike[workloads[i].text].push_back(i);
  std::vector<std::string> names(workloads.size());
  for (const auto& [text, indices] : alike) {
    std::vector<const Fields*> fields;
    for (const std::size_t i : indices) fields.push_back(&workloads[i].fields);
    const std::vector<std::string> told = tell_apart(fields);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      names[indices[i]] =
          told[i].empty() ? std::string(text) : fmt::format("{} ({})", text, told[i]);
    }
  }
  return names;
}

}  // namespace bench::results
