#include <algorithm>

#include "models/base/errors.h"
#include "results/page/markup.h"
#include "results/record/identity.h"
#include "results/track/forms.h"

namespace bench::results {
namespace {

bool any_fails(const TrackedSeries& one) {
  return std::any_of(one.changes.begin(), one.changes.end(),
                     [](const SeriesChange& change) { return change.fails(); });
}

/// Why the series is skipped; empty if it is not. The newest run is suspect or disturbed, or
/// cannot be judged yet, or disturbed runs may explain an open change.
std::string skip_text(const TrackedSeries& one) {
  for (const SeriesChange& change : one.changes) {
    if (change.verdict == stats::ChangeVerdict::kDisturbed && is_open(change)) {
      return change_line(one, change);
    }
  }
  const bool undecided = one.newest_state == NewestState::kSuspect ||
                         one.newest_state == NewestState::kDisturbed ||
                         one.newest_state == NewestState::kUnknown;
  return undecided ? newest_line(one) : "";
}

/// Independent of which other workloads are tracked.
std::string tracked_class_name(const TrackedSeries& one) {
  constexpr std::size_t kDigits = 8;
  std::string name =
      fmt::format("bench.{}{}.{}", one.series.plain_workload, one.series.canary ? "_canary" : "",
                  sha256_hex(one.series.workload_key).substr(0, kDigits));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace

void print_junit(std::ostream& out, const Tracked& tracked) {
  const auto failures = std::count_if(tracked.series.begin(), tracked.series.end(), any_fails);
  const auto skipped = std::count_if(
      tracked.series.begin(), tracked.series.end(),
      [](const TrackedSeries& one) { return !any_fails(one) && !skip_text(one).empty(); });
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"track\" "
      << "tests=\"" << tracked.series.size() << "\" failures=\"" << failures << "\" skipped=\""
      << skipped << "\">\n";
  for (const TrackedSeries& one : tracked.series) {
    out << "    <testcase classname=\"" << html_text(tracked_class_name(one)) << "\" name=\""
        << html_text(fmt::format("{} on {}", one.series.metric, one.series.machine)) << "\">\n";
    std::string lines;
    for (const SeriesChange& change : one.changes) {
      if (!change.fails()) continue;
      if (!lines.empty()) lines += "; ";
      lines += change_line(one, change);
    }
    if (!lines.empty()) {
      out << R"(      <failure type="PerformanceRegression" message=")" << html_text(lines)
          << "\"/>\n";
    } else if (const std::string skipped_for = skip_text(one); !skipped_for.empty()) {
      out << "      <skipped message=\"" << html_text(skipped_for) << "\"/>\n";
    }
    out << "      <system-out>" << html_text(newest_line(one))
        << "</system-out>\n    </testcase>\n";
  }
  out << "  </testsuite>\n</testsuites>\n";
}

}  // namespace bench::results
