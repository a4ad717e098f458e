#include "results/report/disturbed.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "results/formats/record_view.h"

namespace bench::results {
namespace {

/// Deductions of the quality score, and warnings of the run, for a disturbance.
bool names_a_disturbance(std::string_view text) {
  constexpr std::array kDeductions = {": other programs used", ": the hypervisor took",
                                      ": the control group stopped", ": the clock fell"};
  return text.starts_with("other work") ||
         std::any_of(kDeductions.begin(), kDeductions.end(), [&](std::string_view part) {
           return text.find(part) != std::string_view::npos;
         });
}

}  // namespace

bool is_disturbed(const StoredRun& run) {
  for (const char* path : {"quality.deductions", "quality.warnings"}) {
    const nlohmann::json* list = field(run.record, path);
    if (list == nullptr || !list->is_array()) {
      continue;
    }
    for (const nlohmann::json& text : *list) {
      if (text.is_string() && names_a_disturbance(text.get_ref<const std::string&>())) {
        return true;
      }
    }
  }
  return false;
}

bool are_disturbed(std::span<const StoredRun* const> runs) {
  const auto disturbed = static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [](const StoredRun* run) { return is_disturbed(*run); }));
  return disturbed > 0 && 4 * disturbed >= runs.size();
}

}  // namespace bench::results
