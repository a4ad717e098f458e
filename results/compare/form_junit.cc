#include "models/base/errors.h"
#include "results/compare/forms.h"
#include "results/compare/number_text.h"
#include "results/page/markup.h"

namespace bench::results {
namespace {

/// "resnet50 train bs64 f32" -> "bench.resnet50_train_bs64_f32".
std::string class_name(const std::string& workload) {
  std::string name = "bench.";
  for (const char letter : workload) name += letter == ' ' ? '_' : letter;
  return name;
}

std::string details(const ComparisonRow& row, const Comparison& comparison) {
  const std::string sides =
      fmt::format("{} {}, {} {} {}", comparison.base_name, summary_text(row.base),
                  comparison.other_name, summary_text(row.other), row.unit);
  if (!row.shift) return fmt::format("{}, change n/a", sides);
  return fmt::format("{}, change {}, {}", sides, shift_text(row), test_text(row));
}

void write_case(std::ostream& out, const ComparisonRow& row, const Comparison& comparison) {
  out << "    <testcase classname=\"" << html_text(class_name(row.workload)) << "\" name=\""
      << html_text(row.metric) << "\">\n";
  const std::string verdict = html_text(verdict_text(row, comparison.options));
  const std::string text = html_text(details(row, comparison));
  if (row.verdict == stats::ChangeVerdict::kRegressed) {
    out << R"(      <failure type="PerformanceRegression" message=")" << verdict << "\">" << text
        << "</failure>\n";
  } else if (is_undecided(row)) {
    out << "      <skipped message=\"" << verdict << "\"/>\n";
  }
  out << "      <system-out>" << text << "</system-out>\n    </testcase>\n";
}

/// A workload without a good run on the other side.
void write_absent(std::ostream& out, const std::string& workload, const Comparison& comparison) {
  out << "    <testcase classname=\"" << html_text(class_name(workload))
      << "\" name=\"runs\">\n      <skipped message=\""
      << html_text(fmt::format("{} has no successful run of this workload", comparison.other_name))
      << "\"/>\n    </testcase>\n";
}

}  // namespace

void print_junit(std::ostream& out, std::span<const Comparison> comparisons) {
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const Comparison& comparison : comparisons) {
    std::size_t failures = 0;
    std::size_t skipped = comparison.only_base.size();
    for (const ComparisonRow& row : comparison.rows) {
      failures += row.verdict == stats::ChangeVerdict::kRegressed ? 1 : 0;
      skipped += is_undecided(row) ? 1 : 0;
    }
    out << "  <testsuite name=\""
        << html_text(fmt::format("{} against {}", comparison.other_name, comparison.base_name))
        << "\" tests=\"" << comparison.rows.size() + comparison.only_base.size() << "\" failures=\""
        << failures << "\" skipped=\"" << skipped << "\">\n";
    for (const ComparisonRow& row : comparison.rows) write_case(out, row, comparison);
    for (const std::string& workload : comparison.only_base) {
      write_absent(out, workload, comparison);
    }
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
}

}  // namespace bench::results
